import type { Db } from './index.ts'

/**
 * Another value after every change that this process made to the database: what was read before may be
 * stale. What others change, `davit user reset-password` among them, it does not see, so that nothing
 * may be believed for long because of it.
 */
export const ownChangesOf = ({ $client }: Pick<Db, '$client'>) =>
  $client.query<{ changes: number }, []>('SELECT total_changes() AS changes').get()!.changes
