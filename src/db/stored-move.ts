import type { runStatuses } from './job-schema.ts'

/** The last move of a workload to another server. */
export type StoredMove = {
  /** Of its job: for an environment that of the deployment. */
  id: string
  from: string
  to: string
  at: string
  /** The user's e-mail address. */
  by: string
  status: (typeof runStatuses)[number]
  /** Milliseconds for which it didn’t answer; null when it did all the time. */
  outageMs: number | null
  /** Of the volumes that were copied. */
  bytes: number | null
  error: string | null
  /** The server whose volumes of it don’t count, or no longer, and are removed there. */
  leftOn: string | null
  /**
   * Until when these are kept: they are what it had before, or what it ran with there until the move failed. Null for
   * as soon as possible.
   */
  leftUntil: string | null
  /** True when it is to be started on its old server, which went away in the move, once that is back. */
  isDown: boolean
}
