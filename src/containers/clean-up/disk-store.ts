import type { Db, LogDb } from '../../db/index.ts'

/** Bytes of a database, as its pages are counted. */
export function databaseBytes({ $client }: Pick<Db | LogDb, '$client'>) {
  const read = (name: 'page_count' | 'page_size') =>
    $client.query<Record<string, number>, []>(`PRAGMA ${name}`).get()![name]!
  return read('page_count') * read('page_size')
}
