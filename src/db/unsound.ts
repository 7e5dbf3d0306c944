import type { Database } from 'bun:sqlite'
import { damaged } from './unusable.ts'

/** Reads all pages of a database, and with `integrity_check` its indexes; throws when one is not sound. */
export function refuseUnsound(sqlite: Database, check: 'integrity_check' | 'quick_check') {
  const [found] = sqlite.query(`PRAGMA ${check}(1)`).values() as [[string]]
  if (found[0] !== 'ok') throw damaged(sqlite.filename, found[0].replaceAll('\n', ' '))
}
