import { Database } from 'bun:sqlite'
import type { Statement } from 'bun:sqlite'
import { DiskReserve } from './disk-reserve.ts'
import { isDiskFull } from './failures.ts'

const writes = /^\s*(?:insert into|update|delete from)\s+"?(\w+)/i

/** No page shows live changes of these tables. */
const quiet = new Set([
  ...['sessions', 'login_failures', 'oauth_attempts', 'installation'],
  ...['device_logins', 'password_resets'],
])

// of a few hundred statements in the product, each takes about 10 KiB
Database.MAX_QUERY_CACHE_SIZE = 500

/**
 * A database that releases the reserve when a write finds the disk full, and retries once. The work of a
 * transaction must be repeatable: it was rolled back.
 */
export class ReservedDatabase extends Database {
  /** The reserve of its disk; without effect for a database in memory. */
  reserve = new DiskReserve(null)
  /** Called after each write, in a transaction before its commit: read the change only in a later turn. */
  onWrite: (table: string) => void = () => {}
  readonly #watched = new WeakSet<Statement>()

  /** Returns the cached statement unless too many others came between: compiling one is slow. */
  override prepare: Database['prepare'] = (sql: string) => {
    const statement = super.query(sql)
    const table = writes.exec(sql)?.[1]
    if (table && !this.#watched.has(statement)) this.#watch(statement, table)
    return statement as never
  }

  override transaction: Database['transaction'] = (work) => {
    const whole = super.transaction(work)
    const again = (run: typeof work) =>
      ((...input: Parameters<typeof work>) => this.#withRoom(() => run(...input))) as typeof work
    const { deferred, immediate, exclusive } = whole
    return Object.assign(again(whole), {
      deferred: again(deferred),
      immediate: again(immediate),
      exclusive: again(exclusive),
    }) as never
  }

  /** A transaction is retried as a whole. */
  #withRoom<Result>(write: () => Result): Result {
    const isPart = this.inTransaction
    try {
      return write()
    } catch (error) {
      if (isPart || !isDiskFull(error) || !this.reserve.giveUp()) throw error
      return write()
    }
  }

  #watch(statement: Statement, table: string) {
    this.#watched.add(statement)
    const isQuiet = quiet.has(table)
    for (const name of ['run', 'all', 'get', 'values'] as const) {
      const run = statement[name].bind(statement) as (...input: unknown[]) => unknown
      Object.assign(statement, {
        [name]: (...input: unknown[]) => {
          const result = this.#withRoom(() => run(...input))
          if (!isQuiet) this.onWrite(table)
          return result
        },
      })
    }
  }
}
