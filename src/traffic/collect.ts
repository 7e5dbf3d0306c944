import type { Config } from '../config.ts'
import type { Db, LogDb } from '../db/index.ts'
import { readAccessLine, Samples } from '../edge/access-log.ts'
import type { AccessLine } from '../edge/access-log.ts'
import { markOfAccessLog, readAccessLog, removeRead } from '../edge/access-tail.ts'
import type { AccessPosition } from '../edge/access-tail.ts'
import type { Edge } from '../edge/edge.ts'
import type { NewLine } from '../logs/log-line.tsx'
import { storable } from '../logs/block.ts'
import type { Logs } from '../logs/logs.ts'
import type { Masks } from '../logs/masks.ts'
import { hasSource } from '../logs/store.ts'
import { journal } from '../platform/journal.ts'
import { isTurnOver, pause } from '../platform/pause.ts'
import type { Scheduler } from '../platform/scheduler.ts'
import { KeptLines } from './kept-lines.ts'
import { Owners } from './owners.ts'
import {
  changeServed,
  deleteOf,
  deleteOld,
  ever,
  getPosition,
  listSources,
  savePosition,
  spans,
} from './store.ts'
import type { TrafficKey, Served } from './store.ts'
import { Tally } from './tally.ts'
import { shareKey } from './watched.ts'
import type { WatchedTraffic } from './watched.ts'

/** Milliseconds between two reads of the log, and between two removals of old rows. */
const interval = { read: 1000, retain: 600_000 }

/** Chunks of the log that are stored in one transaction. */
const atOnce = 16

type CollectDeps = {
  db: Db
  logDb: LogDb
  logs: Logs
  masks: Masks
  config: Pick<Config, 'domain'>
  watched: WatchedTraffic
  /** The folder shared by the edge and Davit. */
  edge: Pick<Edge, 'folder' | 'forwarders'> & { others?: Edge['others'] }
}

/** Counts the edge's requests and stores log lines of them, until the signal aborts. */
export async function keepTraffic(
  { scheduler, ...deps }: CollectDeps & { scheduler: Scheduler },
  { signal }: { signal: AbortSignal },
) {
  const collector = new TrafficCollector(deps)
  const read = async () => {
    while (!signal.aborted && (await collector.collect())) await pause()
  }
  await Promise.all([
    scheduler.repeat(interval.read, read, { signal, failed: 'requests were not counted' }),
    scheduler.repeat(interval.retain, () => dropOld(deps), {
      signal,
      failed: 'old traffic was not removed',
    }),
  ])
}

/** Removes rows older than the longest range, and those of deleted environments and services. */
export function dropOld({ db, logDb }: Pick<CollectDeps, 'db' | 'logDb'>, now = Date.now()) {
  deleteOf(
    logDb,
    listSources(logDb).filter((id) => !hasSource(db, id)),
  )
  deleteOld(logDb, Math.floor(now / 1000))
}

/** Read, but not stored yet. */
type Batch = {
  tallies: Map<string, Minute>
  lines: Map<string, NewLine[]>
  /** To versions that are watched. */
  watched: { sourceId: string; request: AccessLine }[]
}
type Minute = Pick<TrafficKey, 'sourceId' | 'key'> & {
  /** Null when only the figures of a version count it. */
  minute: number | null
  /** The switch to the version that is watched; null for other requests. */
  switchedAt: number | null
  tally: Tally
}

/**
 * Reads the access log. The position is stored with the counts, so each line counts once. Lines of other edges
 * are counted as they come; those of the time in which Davit is down aren't.
 */
export class TrafficCollector {
  readonly #deps: CollectDeps
  readonly #owners: Owners
  #kept = new KeptLines()
  #samples = new Samples()
  /** Of the edges of other servers, which count for themselves. */
  readonly #samplesElsewhere = new Map<string, Samples>()
  /** The state of the log before the last complete read; unchanged means nothing new. */
  #mark: string | null | undefined

  constructor(deps: CollectDeps) {
    this.#deps = deps
    this.#owners = new Owners(deps)
  }

  /** Reads and stores a limited number of new chunks. Returns false when none are left. */
  async collect() {
    const begun = Date.now()
    try {
      const isLeft = await this.#collect()
      if (!isLeft) this.#deps.watched.setCountedUntil(begun)
      return isLeft
    } catch (error) {
      // both have counted lines that are read again
      this.#kept = new KeptLines()
      this.#samples = new Samples()
      throw error
    }
  }

  async #collect(): Promise<boolean> {
    const { logDb, edge } = this.#deps
    if (logDb.$client.reserve.isGone) return false // the remaining space is for the clean-up
    const mark = markOfAccessLog(edge.folder)
    const others = edge.others?.takeLines() ?? new Map<string, string[]>()
    if (mark === this.#mark && others.size === 0) return false
    const stored = getPosition(logDb)
    const batch: Batch = { tallies: new Map(), lines: new Map(), watched: [] }
    let position = stored
    let isEnd = false
    for (let pieces = 0; !isEnd && pieces < atOnce; pieces++) {
      const piece = await readAccessLog(edge.folder, position)
      ;({ position, isEnd } = piece)
      if (piece.hasGap) journal.warn('requests were not counted: their log was full')
      this.#owners.look()
      for (const line of piece.lines) {
        this.#take(batch, line)
        if (isTurnOver()) await pause()
      }
    }
    for (const [serverId, lines] of others) {
      const samples = this.#samplesElsewhere.get(serverId) ?? new Samples()
      this.#samplesElsewhere.set(serverId, samples)
      for (const line of lines) this.#take(batch, line, samples)
    }
    const hasMoved = position !== null && !Bun.deepEquals(position, stored)
    if (hasMoved || others.size > 0) await this.#store(batch, position)
    if (hasMoved) await removeRead(edge.folder, position!)
    else isEnd = true
    if (isEnd) this.#mark = mark
    return !isEnd
  }

  /** Ignores an unreadable line: a killed Caddy left it incomplete. */
  #take({ tallies, lines, watched }: Batch, text: string, samples = this.#samples) {
    const request = readAccessLine(text, samples)
    if (!request) return
    const { share } = request
    if (share) return this.#takeShared({ tallies, watched }, share, request)
    this.#deps.edge.forwarders.see(request)
    // a request that started before the host changed owners belongs to the previous one
    const sourceId = this.#owners.of(request.key, request.time - request.seconds * 1000)
    if (sourceId === null) return
    const minute = endOf(request.time / 1000, spans.minute)
    const switchedAt = this.#deps.watched.timeOf(sourceId, request)
    if (switchedAt !== null) watched.push({ sourceId, request })
    tally(tallies, { sourceId, key: request.key, minute, switchedAt }, request)
    const kept = this.#kept.of(sourceId, request)
    if (kept.length === 0) return
    const before = lines.get(sourceId)
    if (before) before.push(...kept)
    else lines.set(sourceId, kept)
  }

  /** The request also has a line of its host, by which it is counted in all but the figures of versions. */
  #takeShared(
    { tallies, watched }: Pick<Batch, 'tallies' | 'watched'>,
    { slot, version }: NonNullable<AccessLine['share']>,
    request: AccessLine,
  ) {
    const sourceId = this.#deps.watched.ownerOf(slot)
    if (sourceId === null) return
    const switchedAt = this.#deps.watched.timeOf(sourceId, request)
    if (switchedAt === null) return
    watched.push({ sourceId, request })
    tally(tallies, { sourceId, key: shareKey(version), minute: null, switchedAt }, request)
  }

  async #store({ tallies, lines, watched }: Batch, position: AccessPosition | null) {
    const { db, logDb, logs, masks } = this.#deps
    const written = []
    for (const [sourceId, unmasked] of lines) {
      const { mask, state } = await masks.of(sourceId)
      const masked = unmasked.flatMap((line) =>
        storable(mask(line.text)).map((text) => ({ ...line, text })),
      )
      written.push({ log: { sourceId, logId: '' }, lines: masked, state })
      await pause()
    }
    const isThere = (sourceId: string) => hasSource(db, sourceId)
    const bySource = Map.groupBy(tallies.values(), ({ sourceId }) => sourceId)
    logs.writeAll(
      written.filter(({ log }) => isThere(log.sourceId)),
      () => {
        for (const [sourceId, all] of bySource) {
          if (!isThere(sourceId)) continue
          for (const { minute, tally, key, switchedAt } of all) {
            const add = (span: number, time: number) =>
              changeServed(logDb, { sourceId, key, span, time }, (before) =>
                sumOf([before, tally.served]),
              )
            if (minute !== null)
              for (const span of [spans.minute, spans.hour]) add(span, endOf(minute, span))
            if (switchedAt !== null) add(spans.watch, switchedAt)
          }
          changeServed(logDb, { sourceId, ...ever }, (before) =>
            sumOf([before, ...all.flatMap((one) => (one.minute === null ? [] : one.tally.served))]),
          )
        }
        if (position) savePosition(logDb, position)
      },
    )
    for (const { sourceId, request } of watched) this.#deps.watched.add(sourceId, request)
  }
}

function tally(tallies: Batch['tallies'], of: Omit<Minute, 'tally'>, request: AccessLine) {
  const id = `${of.sourceId} ${of.key} ${of.minute} ${of.switchedAt}`
  const known = tallies.get(id) ?? { ...of, tally: new Tally() }
  known.tally.add(request)
  tallies.set(id, known)
}

/** The end of the span that contains this time. */
const endOf = (time: number, span: number) => Math.ceil(time / span) * span

function sumOf(all: (Served | undefined)[]) {
  const tally = new Tally()
  for (const one of all) if (one) tally.addServed(one)
  return tally.served
}
