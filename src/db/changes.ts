import type { Db } from './index.ts'

/** Another value after every change to the database, whoever made it: what was read before may be stale. */
export const changesOf = ({ $client }: Pick<Db, '$client'>) =>
  $client
    .query<{ changes: string }, []>(
      "SELECT total_changes() || '-' || data_version AS changes FROM pragma_data_version",
    )
    .get()!.changes
