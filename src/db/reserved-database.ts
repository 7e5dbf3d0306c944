import { Database } from 'bun:sqlite'
import type { Statement } from 'bun:sqlite'
import { DiskReserve } from './disk-reserve.ts'
import { isDiskFull } from './failures.ts'

const writes = /^\s*(insert|update|delete)\b/i

// of a few hundred that the product asks, each takes about 10 KiB
Database.MAX_QUERY_CACHE_SIZE = 500

/**
 * A database that gives up the reserve when a write finds the disk full, and tries that once more.
 * The work of a transaction must be fit to be done twice: all it has done was undone.
 */
export class ReservedDatabase extends Database {
  /** Of its disk; none for one in memory. */
  reserve = new DiskReserve(null)
  readonly #watched = new WeakSet<Statement>()

  /** The same statement again, as long as not too many others came between: to compile one takes long. */
  override prepare: Database['prepare'] = (sql: string) => {
    const statement = super.query(sql)
    if (writes.test(sql) && !this.#watched.has(statement)) this.#watch(statement)
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

  /** In a transaction the whole of that is tried again. */
  #withRoom<Result>(write: () => Result): Result {
    const isPart = this.inTransaction
    try {
      return write()
    } catch (error) {
      if (isPart || !isDiskFull(error) || !this.reserve.giveUp()) throw error
      return write()
    }
  }

  #watch(statement: Statement) {
    this.#watched.add(statement)
    for (const name of ['run', 'all', 'get', 'values'] as const) {
      const run = statement[name].bind(statement) as (...input: unknown[]) => unknown
      Object.assign(statement, {
        [name]: (...input: unknown[]) => this.#withRoom(() => run(...input)),
      })
    }
  }
}
