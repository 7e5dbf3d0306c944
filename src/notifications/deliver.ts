import { originOf } from '../config.ts'
import type { Config } from '../config.ts'
import type { Db } from '../db/index.ts'
import type { Lookup } from '../platform/hosts.ts'
import type { Secrets } from '../platform/secrets.ts'
import { unsealed } from '../resources/store.ts'
import { getChannel } from './channel-store.ts'
import type { Channel } from './channel-store.ts'
import type { OpenPages } from './open-pages.ts'
import type { Handler } from './outbox.ts'
import { dropForeign, dropLane, listDue } from './outbox-store.ts'
import { quietEnd } from './quiet.ts'
import { deliver, sealed } from './senders/index.ts'
import { SendFailure } from './senders/sender.ts'
import type { Message } from './senders/sender.ts'
import { describeMessage } from './store.ts'
import type { EventRow } from './store.ts'

export type DeliverDeps = {
  db: Db
  secrets: Secrets
  config: Config
  pages: OpenPages
  lookup?: Lookup
}

/** Events that come as messages of their own; more at once, or what quiet hours held, as a summary. */
const mostSingle = 3

/** Events whose titles a summary has. */
const mostNamed = 20

const all = Number.MAX_SAFE_INTEGER

const notYours = 'The owner of the channel may no longer see it.'

/** Milliseconds until a channel's next message; services allow about one a second. */
const pause = { single: 1000, summary: 60_000 }

/** Sends events to the channels of those whom they concern. */
export const noticeHandler = (deps: DeliverDeps): Handler => ({
  isKept: true,
  plan({ lane }, now, { isBehind }) {
    const { db } = deps
    const found = getChannel(db, lane)
    if (!found) return { most: 0 } // it was just deleted, with its messages
    const { channel, owner } = found
    if (owner.disabledAt) dropLane(db, lane, 'The account was disabled.')
    const until = quietEnd(channel, now)
    if (until !== null) return { until }
    const limit = mostSingle + 1
    const drop = (most: number) => dropForeign(db, lane, { reason: notYours, now, limit: most })
    if (isBehind || drop(limit)) drop(all) // behind one that failed, it may be any
    const due = listDue(db, lane, { now, limit })
    const wasHeld = due.some(({ createdAt }) => quietEnd(channel, createdAt.getTime()) !== null)
    if (channel.kind === 'webhook') return { most: 1 } // a program gets each event by itself
    if (due.length <= mostSingle && !(wasHeld && due.length > 1))
      return { most: 1, pause: pause.single }
    drop(all)
    return { most: all, pause: pause.summary }
  },
  async send({ messageId, first, count }, signal) {
    const found = getChannel(deps.db, first.channelId!)
    if (!found) throw deleted
    const { channel } = found
    const isMail = channel.kind === 'email'
    const only = isMail ? first.left?.filter((one) => channel.to?.includes(one)) : undefined
    if (only?.length === 0) return { answer: 'Those who lacked it are no longer recipients.' }
    const { levels, first: events } = describeMessage(deps.db, messageId, { first: mostNamed })
    const origin = originOf(deps.config)
    const message =
      count === 1 && events[0]
        ? messageOf(events[0], { id: messageId, origin })
        : summaryOf({ id: messageId, levels, events, count, origin })
    return sendTo(deps, channel, { ...message, ...(only && { only }) }, signal)
  },
})

const deleted = new SendFailure('deleted', 'The channel was deleted.', '', { retry: false })

export async function sendTo(
  { secrets, config: { allowHosts }, lookup, pages }: DeliverDeps,
  channel: Channel,
  message: Message,
  signal: AbortSignal,
) {
  const { kind, ownerId } = channel
  if (kind === 'browser') return { answer: pages.show(ownerId, message) }
  const settings = unsealed(secrets, { kind: 'channel', sealed }, channel)
  const { status } = await deliver({ signal, allowHosts, lookup }, { kind, settings, message })
  return { answer: status }
}

/** What is known of it now: it may have happened again since. */
function messageOf(event: EventRow, { id, origin }: { id: string; origin: string }): Message {
  const { kind, level, title, text, todo, createdAt, count, endedAt } = event
  const often = count > 1 && !endedAt ? ` It happened ${count} times so far.` : ''
  const url = `${origin}${event.href}`
  return { id, at: createdAt, kind, level, title, text: text + often, todo, url }
}

type Summary = {
  id: string
  levels: { level: EventRow['level']; count: number }[]
  /** The first ones. */
  events: EventRow[]
  count: number
  origin: string
}

function summaryOf({ id, levels, events, count, origin }: Summary): Message {
  const of = (level: EventRow['level']) => levels.find((one) => one.level === level)?.count ?? 0
  const named = [
    [of('failure'), 'failed'],
    [of('warning'), 'need attention'],
    [of('resolved'), 'recovered'],
  ].flatMap(([some, what]) => (some ? `${some} ${what}` : []))
  const level = (['failure', 'warning', 'info'] as const).find((level) => of(level) > 0)
  const rest = count - events.length
  return {
    id,
    at: events[0]?.createdAt ?? new Date(),
    kind: 'summary',
    level: level ?? 'resolved',
    title: [`${count} events`, named.join(', ')].filter(Boolean).join(': '),
    text: [
      ...events.map(({ title }) => `- ${title}`),
      ...(rest > 0 ? [`and ${rest} more`] : []),
    ].join('\n'),
    todo: null,
    url: `${origin}/settings/events`,
  }
}
