import { workerEntry } from './root.ts'

/** Ticks without a beat after which the loop counts as hanging. */
const mostMissed = 12

/** Milliseconds without a beat after which the process ends, where systemd doesn't say. */
const usualLimit = 60_000

export type Watch = {
  /** Counts the beats of the loop; its second cell never changes, and is there to wait on. */
  beats: Int32Array<SharedArrayBuffer>
  /** Milliseconds between two checks. */
  tick: number
  mostMissed: number
  /** Where systemd listens, if it started this process. */
  notifySocket: string | null
}

/**
 * Ends the process when its loop is blocked for a minute, so that its supervisor restarts it;
 * notifies systemd that it is ready, and alive with each beat, if systemd asks for that. A thread watches:
 * it counts its own ticks, so neither a suspended machine nor a clock that jumps counts as blocked.
 */
export function startWatchdog(env: Record<string, string | undefined>) {
  // systemd ends what is silent for WATCHDOG_USEC: ours must come first, because it says why
  const given = Number(env.WATCHDOG_USEC) / 1000
  const limit = given > 0 ? Math.min(given * 0.75, usualLimit) : usualLimit
  const tick = limit / mostMissed
  const beats = new Int32Array(new SharedArrayBuffer(8))
  const thread = new Worker(workerEntry('platform/watchdog-worker'), { smol: true })
  const watch: Watch = { beats, tick, mostMissed, notifySocket: env.NOTIFY_SOCKET ?? null }
  thread.postMessage(watch)
  thread.unref()
  setInterval(() => Atomics.add(beats, 0, 1), tick / 2).unref()
}
