import type { Place } from './http1.ts'
import { freshConnection, http2Session, keptConnection } from './requests.ts'
import { eventStream, slowDownload, slowUpload, tick, webSocket } from './streams.ts'
import { Counter, kinds } from './tally.ts'
import type { Kind } from './tally.ts'

// Visits a site of the edge, in every way at once, until it is stopped; a process of its own, so that
// what the test does takes no time of it. Spoken to by messages, of which each is answered.

export type Asked =
  | { kind: 'begin'; place: Place; versions: string[]; without: Kind[]; ticks: number }
  | { kind: 'allow'; versions: string[] }
  | { kind: 'kill'; instance: string }
  | { kind: 'look' }
  | { kind: 'stop' }

/** How many visit in each way, and how many requests a second each of them sends; streams come one after the other. */
const visits: Record<Kind, { visitors: number; perSecond: number }> = {
  kept: { visitors: 4, perSecond: 20 },
  fresh: { visitors: 2, perSecond: 15 },
  http2: { visitors: 2, perSecond: 20 },
  websocket: { visitors: 2, perSecond: Infinity },
  events: { visitors: 2, perSecond: Infinity },
  upload: { visitors: 1, perSecond: Infinity },
  download: { visitors: 1, perSecond: Infinity },
}

const clients: Record<Kind, (place: Place, ticks: number) => Visit> = {
  kept: keptConnection,
  fresh: freshConnection,
  http2: http2Session,
  websocket: webSocket,
  events: eventStream,
  upload: slowUpload,
  download: slowDownload,
}

type Visit = (check: (version: string | null) => void) => Promise<void>

/** Milliseconds between two of a visitor at least. */
const pause = 5

/** Milliseconds after which a request counts as failed, and those by which a stream may be late. */
const patience = 15_000

let counter: Counter | undefined
let isStopped = false
let all: Promise<unknown> = Promise.resolve()

process.on('message', async (asked: Asked) => {
  if (asked.kind === 'begin') begin(asked)
  if (asked.kind === 'allow') counter!.allow(asked.versions)
  if (asked.kind === 'kill') counter!.kill(asked.instance)
  if (asked.kind === 'stop') {
    isStopped = true
    await all
  }
  process.send!(counter!.tally)
  if (asked.kind === 'stop') process.exit(0)
})
process.on('disconnect', () => process.exit(1))

function begin({ place, versions, without, ticks }: Extract<Asked, { kind: 'begin' }>) {
  counter = new Counter(versions)
  all = Promise.all(
    kinds
      .filter((kind) => !without.includes(kind))
      .flatMap((kind) =>
        Array.from({ length: visits[kind].visitors }, () =>
          visit(kind, clients[kind](place, ticks), ticks * tick),
        ),
      ),
  )
}

async function visit(kind: Kind, client: Visit, length: number) {
  const most = patience + (visits[kind].perSecond === Infinity ? length : 0)
  const period = 1000 / visits[kind].perSecond
  while (!isStopped) {
    const from = performance.now()
    await counter!.count(kind, (check) => inTime(client(check), most))
    await Bun.sleep(Math.max(pause, period - (performance.now() - from)))
  }
}

function inTime(work: Promise<void>, most: number) {
  const { promise, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Error('no response in time')), most)
  return Promise.race([work, promise]).finally(() => clearTimeout(timer))
}
