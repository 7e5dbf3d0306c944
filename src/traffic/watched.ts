import type { FailedRequests, VersionFigures } from '../db/schema.ts'
import type { LogDb } from '../db/index.ts'
import type { AccessLine } from '../edge/access-log.ts'
import type { ShareVersion } from '../edge/plan.ts'
import { unlessAborted } from '../platform/pause.ts'
import { percentilesOf } from './history.ts'
import { listServed, spans } from './store.ts'
import { Tally } from './tally.ts'

/** Different failed requests that are remembered of one version, and characters of a path. */
const max = { failed: 50, path: 200 }

type Watched = {
  since: number
  /** When requests went back to the version before. */
  until: number
  /** That of its share at the edge; null when it gets all requests. */
  slot: number | null
  failed: Map<string, FailedRequests>
  /** Requests that are counted by the line of another one, since this process counts them; and failed ones of them. */
  estimated: Estimated
}

export type Estimated = Pick<VersionFigures, 'requests' | 'errors'>

const none: Estimated = { requests: 0, errors: 0 }

/** Whose requests are also counted by version: those to a version that is watched after its switch. */
export class WatchedTraffic {
  /** Milliseconds until requests that failed are logged in detail, after they ended. */
  loggedWithin = 2500
  readonly #watched = new Map<string, Watched>()
  #countedUntil = -Infinity
  #advanced = Promise.withResolvers<void>()

  /** From this time on, in milliseconds since 1970. */
  begin(sourceId: string, since: number, slot: number | null = null) {
    this.#watched.set(sourceId, {
      ...{ since, until: Infinity, slot },
      ...{ failed: new Map(), estimated: { ...none } },
    })
  }

  /** Requests that begin from this time on are those of the version before. Returns the earliest such time. */
  wentBack(sourceId: string, time: number) {
    const watched = this.#watched.get(sourceId)
    if (!watched) return time
    return (watched.until = Math.min(watched.until, time))
  }

  end(sourceId: string) {
    this.#watched.delete(sourceId)
  }

  /** All that was logged by then is counted; in milliseconds since 1970. */
  setCountedUntil(time: number) {
    this.#countedUntil = Math.max(this.#countedUntil, time)
    this.#advanced.resolve()
    this.#advanced = Promise.withResolvers<void>()
  }

  /** Resolves once all that was logged by then is counted. */
  async countedUntil(time: number, { signal }: { signal: AbortSignal }) {
    while (this.#countedUntil < time) await unlessAborted(this.#advanced.promise, signal)
  }

  /** The time in whose row a request is also counted; null for one that began before the switch, or after going back. */
  timeOf(
    sourceId: string,
    { time, seconds, share }: Pick<AccessLine, 'time' | 'seconds' | 'share'>,
  ) {
    const watched = this.#watched.get(sourceId)
    if (!watched || watched.slot !== (share?.slot ?? null)) return null
    const begun = time - seconds * 1000
    return begun >= watched.since && begun < watched.until ? timeOf(watched.since) : null
  }

  /** Who has that share of requests now. */
  ownerOf(slot: number) {
    return this.#watched.entries().find(([, watched]) => watched.slot === slot)?.[0] ?? null
  }

  add(sourceId: string, { status, method, path: uri, share, requests }: AccessLine) {
    const watched = this.#watched.get(sourceId)
    if (!watched || share?.version === 'before') return
    const { failed, estimated } = watched
    estimated.requests += requests - 1
    if (status < 500) return
    estimated.errors += requests - 1
    const path = uri.replace(/\?.*$/s, '').slice(0, max.path)
    const key = `${status} ${method} ${path}`
    const known = failed.get(key)
    if (known) known.count += requests
    else if (failed.size < max.failed) failed.set(key, { status, method, path, count: requests })
  }

  /** Of the requests to the version that is watched, how many have no line of their own. */
  estimatedOf(sourceId: string): Estimated {
    return this.#watched.get(sourceId)?.estimated ?? none
  }

  /** The most frequent ones first. */
  failedOf(sourceId: string): FailedRequests[] {
    const failed = this.#watched.get(sourceId)?.failed.values() ?? []
    return [...failed].sort((a, b) => b.count - a.count)
  }
}

const timeOf = (since: number) => Math.floor(since / 1000)

const oneHour = 3600

/**
 * Of all hosts in the hour before a switch; call it at that time. Without versions that were switched to at
 * these times but didn't stay: what they failed must not excuse the next one. All in milliseconds since 1970.
 */
export function figuresBefore(
  logDb: LogDb,
  { sourceId, since, without }: { sourceId: string; since: number; without: number[] },
) {
  const until = timeOf(since)
  const after = until - oneHour
  const hour = { sourceId, span: spans.minute, after, until: until + spans.minute }
  const tally = tallyOf(listServed(logDb, hour))
  const times = new Set(without.map(timeOf))
  for (const { key, served } of listServed(logDb, { ...hour, span: spans.watch, until }))
    if (times.has(served.time) && key !== shareKey('before')) tally.addServed(served, -1)
  return figuresIn(tally)
}

/** Of the version that was switched to then; of a share also of the one before. */
export function figuresSince(
  logDb: LogDb,
  sourceId: string,
  since: number,
  version?: ShareVersion | undefined,
) {
  const until = timeOf(since)
  const key = version && shareKey(version)
  const query = { sourceId, ...(key && { key }), span: spans.watch, after: until - 1, until }
  return figuresIn(tallyOf(listServed(logDb, query)))
}

/** In place of a host: no host has this character. */
export const shareKey = (version: ShareVersion) => `#${version}`

function tallyOf(rows: ReturnType<typeof listServed>) {
  const tally = new Tally()
  for (const { served } of rows) tally.addServed(served)
  return tally
}

function figuresIn(tally: Tally): VersionFigures {
  const { p50, p95 } = percentilesOf(tally)
  return { requests: tally.requests, errors: tally.statuses[4]!, p50, p95 }
}
