import type { Db } from './index.ts'

/** Another value after every change to the database, whoever made it: what was read before may be stale. */
export const changesOf = ({ $client }: Pick<Db, '$client'>) =>
  $client
    .query<{ changes: string }, []>(
      "SELECT total_changes() || '-' || data_version AS changes FROM pragma_data_version",
    )
    .get()!.changes

/**
 * The same for what this process changes, at an eighth of the price: for what is asked so often that
 * `changesOf` would cost as much as the answer. What others change, `davit user reset-password` among
 * them, it does not see, so that nothing may be believed for long because of it.
 */
export const ownChangesOf = ({ $client }: Pick<Db, '$client'>) =>
  $client.query<{ changes: number }, []>('SELECT total_changes() AS changes').get()!.changes
