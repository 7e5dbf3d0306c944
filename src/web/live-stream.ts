import { z } from 'zod'
import type { ChangeFeed, Watch } from '../live/change-feed.ts'
import { merged } from '../live/merged.ts'
import { factory } from './factory.ts'
import { query } from './query.ts'
import { sse, sseEvent } from './sse.ts'
import type { Streams } from './streams.ts'

/** The query of a stream whose page has live parts. */
const watch = z.object({
  since: z.string().max(40).optional(),
  about: z.string().max(64).optional(),
  every: z.coerce.number().min(1).max(3600).optional(),
})

/** The stream of a page that has no other one: reports that the page's data may have changed. */
export const liveRoutes = ({ changes, streams }: { changes: ChangeFeed; streams: Streams }) =>
  factory.createApp().get('/live', query(watch), (c) => {
    const { since, ...asked } = c.req.valid('query')
    const seen = { since: c.req.header('Last-Event-ID') ?? since, ...asked } as Watch
    return sse(c, { streams, events: (signal) => changed(changes, seen, signal) })
  })

async function* changed(changes: ChangeFeed, seen: Watch, signal: AbortSignal) {
  for await (const { version, isNew } of changes.follow(seen, signal))
    yield isNew ? sseEvent({ id: version, event: 'changed', data: '' }) : `id: ${version}\n\n`
}

type Events = AsyncGenerator<string | Uint8Array>

/** Adds reports of changes to the events of a log; ends with the log. */
export function withChanges(
  changes: ChangeFeed,
  events: AsyncIterable<string | Uint8Array>,
  {
    since,
    signal,
    beside = () => [],
  }: {
    since: string | undefined
    signal: AbortSignal
    /** Further events for the page. */
    beside?: (signal: AbortSignal) => Events[]
  },
) {
  const over = new AbortController()
  const both = AbortSignal.any([signal, over.signal])
  return merged([untilOver(events, over), changedBeside(changes, since, both), ...beside(both)])
}

async function* untilOver<Event>(events: AsyncIterable<Event>, over: AbortController) {
  try {
    yield* events
  } finally {
    over.abort()
  }
}

/** Without ids: those of the stream belong to its lines. */
async function* changedBeside(
  changes: ChangeFeed,
  since: string | undefined,
  signal: AbortSignal,
): Events {
  for await (const { isNew } of changes.follow({ since }, signal))
    if (isNew) yield sseEvent({ event: 'changed', data: '' })
}
