import { workerEntry } from './root.ts'

/** Ticks without a beat after which the event loop counts as blocked. */
const maxMissed = 12

/** Milliseconds without a beat after which the process ends, unless systemd sets a limit. */
const usualLimit = 60_000

export type Watch = {
  /** Counts the beats of the event loop. Its second cell never changes, and is there to wait on. */
  beats: Int32Array<SharedArrayBuffer>
  /** Milliseconds between two checks. */
  tick: number
  maxMissed: number
  /** The socket of systemd, if it started this process. */
  notifySocket: string | null
}

/**
 * Ends the process when its event loop is blocked for a minute, so that its supervisor restarts it. Notifies
 * systemd, if it requests that, when Davit is ready and with each beat. A thread watches: it counts its own
 * ticks, so neither a suspended machine nor a clock that jumps counts as blocked.
 */
export function startWatchdog(env: Record<string, string | undefined>) {
  // systemd ends a process that is silent for WATCHDOG_USEC; ours comes first, because it explains why
  const given = Number(env.WATCHDOG_USEC) / 1000
  const limit = given > 0 ? Math.min(given * 0.75, usualLimit) : usualLimit
  const tick = limit / maxMissed
  const beats = new Int32Array(new SharedArrayBuffer(8))
  const thread = new Worker(workerEntry('platform/watchdog-worker'), { smol: true })
  const watch: Watch = { beats, tick, maxMissed, notifySocket: env.NOTIFY_SOCKET ?? null }
  thread.postMessage(watch)
  thread.unref()
  setInterval(() => Atomics.add(beats, 0, 1), tick / 2).unref()
}
