import type { LogDb } from '../db/index.ts'
import { isTurnOver, pause } from '../platform/pause.ts'
import { ranges } from '../web/plot.ts'
import type { Range } from '../web/plot.ts'
import { getFirstTime, listServed, spans } from './store.ts'
import { Tally } from './tally.ts'

/** Seconds that a point of a range covers, and the rows it is computed from. */
const drawn: Record<Range, { span: number; of: number }> = {
  hour: { span: 60, of: spans.minute },
  day: { span: 300, of: spans.minute },
  week: { span: 3600, of: spans.hour },
}

/** Minimum seconds of the current span: one request in a second isn't a rate. */
const least = 10

/** Requests in a span of time, of which this many seconds have passed. */
export type Sample = { time: number; seconds: number; tally: Tally }

export type TrafficHistory = Awaited<ReturnType<typeof readTraffic>>

/** The traffic of an environment or service, or of one of its hosts; and all hosts, by number of requests. */
export async function readTraffic(
  logDb: LogDb,
  {
    sourceId,
    key = null,
    range,
    now = Date.now(),
  }: { sourceId: string; key?: string | null; range: Range; now?: number },
) {
  const { span, of } = drawn[range]
  const seconds = now / 1000
  const until = (Math.floor(seconds / span) + 1) * span
  const from = until - ranges[range]
  const samples = new Map<number, Sample>()
  const first = getFirstTime(logDb, sourceId, of)
  // zero is a value too, after the first request
  for (let time = from + span; first !== null && time <= until; time += span) {
    const passed = Math.max(Math.min(least, span), seconds - (time - span))
    if (time >= first)
      samples.set(time, { time, seconds: Math.min(span, passed), tally: new Tally() })
  }
  const hosts = new Map<string, number>()
  const total = new Tally()
  for (const row of listServed(logDb, { sourceId, span: of, after: from, until })) {
    const { seriesId: _, span: __, time, ...served } = row.served
    hosts.set(row.key, (hosts.get(row.key) ?? 0) + served.requests)
    if (key === null || key === row.key) {
      samples.get(Math.ceil(time / span) * span)?.tally.addServed(served)
      total.addServed(served)
    }
    if (isTurnOver()) await pause()
  }
  // in a span that has just begun, zero means nothing
  const isKnown = ({ time, tally }: Sample) =>
    tally.requests > 0 || seconds - (time - span) >= Math.min(least, span)
  const shown = [...samples.values()].filter(isKnown)
  return {
    ...{ range, span, from, until, key, total },
    hosts: [...hosts]
      .map(([host, requests]) => ({ key: host, requests }))
      .sort((a, b) => b.requests - a.requests),
    samples: shown,
    /** That the total covers. */
    seconds: shown.reduce((sum, sample) => sum + sample.seconds, 0),
  }
}

/** Milliseconds; null without requests. */
export const percentilesOf = ({ durations }: Tally) => ({
  p50: inMilliseconds(durations.percentile(0.5)),
  p95: inMilliseconds(durations.percentile(0.95)),
  p99: inMilliseconds(durations.percentile(0.99)),
})

const inMilliseconds = (seconds: number | null) =>
  seconds === null ? null : Number((seconds * 1000).toPrecision(4))

/** Traffic in the API: bytes of bodies, durations in milliseconds. */
export const trafficJson = (
  { range, span, key, hosts, samples, total, seconds }: TrafficHistory,
  { isCounted }: { isCounted: boolean },
) => ({
  range,
  span,
  isCounted,
  host: key,
  hosts: hosts.map(({ key: host, requests }) => ({ host, requests })),
  total: tallyJson(total, seconds),
  samples: samples.map((sample) => ({
    time: new Date(sample.time * 1000).toISOString(),
    ...tallyJson(sample.tally, sample.seconds),
  })),
})

const tallyJson = (tally: Tally, seconds: number) => ({
  requests: tally.requests,
  perSecond: Number((tally.requests / Math.max(seconds, 1)).toPrecision(4)),
  statuses: Object.fromEntries(tally.statuses.map((count, kind) => [`${kind + 1}xx`, count])),
  received: tally.received,
  sent: tally.sent,
  ...percentilesOf(tally),
})
