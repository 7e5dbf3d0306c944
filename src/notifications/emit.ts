import type { Tx } from '../db/index.ts'
import { unlessOrphan } from '../db/failures.ts'
import { duration } from '../web/units.ts'
import { insertNotices, renewUnsent } from './outbox-store.ts'
import {
  deleteEvent,
  getEndBefore,
  getNewestOf,
  getOpen,
  insertEvent,
  isUntold,
  listAwaiting,
  listChannelsOf,
  listTold,
  renewForAll,
  updateEvent,
} from './store.ts'
import { cut } from './senders/text.ts'
import type { EventRow } from './store.ts'

export type NewEvent = Pick<EventRow, 'kind' | 'level' | 'subject' | 'title' | 'text' | 'href'> & {
  ownerId?: string | null
  projectId?: string | null
  environmentId?: string | null
  serviceId?: string | null
  todo?: string | null
  /** See `events.of`: unique in the installation, such as `unhealthy <id>`. */
  of?: string | null
}

/**
 * Milliseconds that something must stay well before its end is told: a minute for each time, at most these. What
 * was bad less than those before counts, too.
 */
const calm = { each: 60_000, most: 30 * 60_000 }

/** Milliseconds until what goes on is tried again where it wasn't accepted: it may happen every minute. */
const untilRenewed = 3_600_000

/**
 * Stores an event, and with it what is to be sent, in the transaction of what happened. What flaps (see `of`) is
 * told each channel once, and its end once it stays well.
 */
export function emit(tx: Tx, { of = null, ...given }: NewEvent) {
  const now = new Date()
  const event = bounded(given)
  if (of === null) return tell(tx, { ...event, of, lastAt: now })
  const open = getOpen(tx, of)
  if (event.level === 'resolved') {
    if (open) end(tx, open, event, now)
    return
  }
  if (open) return happenedAgain(tx, open, event, now)
  const newest = getNewestOf(tx, of)
  if (newest && isCalming(tx, newest, now)) {
    deleteEvent(tx, newest.id)
    const begun = getNewestOf(tx, of) // undefined if it was too old to be kept
    if (begun) return happenedAgain(tx, begun, event, now)
  }
  tell(tx, { ...event, of, lastAt: now })
}

/** Its end was not told yet. */
const isCalming = (tx: Tx, { id, level, count, createdAt }: EventRow, now: Date) =>
  level === 'resolved' && now.getTime() < createdAt.getTime() + calmOf(count) && isUntold(tx, id)

const calmOf = (count: number) => Math.min(count * calm.each, calm.most)

/** In characters: some of a text may come from a repository. */
const longest = { subject: 200, title: 300, text: 4000, todo: 1000 }

function bounded(event: NewEvent): NewEvent {
  const names = Object.keys(longest) as (keyof typeof longest)[]
  const short = names.flatMap((name) =>
    event[name] == null ? [] : [[name, cut(event[name], longest[name])]],
  )
  return { ...event, ...Object.fromEntries(short) }
}

/**
 * A channel that is new, or whose message was given up, hears of it now. All do when it has become a failure, which
 * it stays: so what goes back and forth is told once.
 */
function happenedAgain(tx: Tx, open: EventRow, event: NewEvent, now: Date) {
  const { id, count } = open
  const { title, text, href, todo = null } = event
  const isWorse = open.level !== 'failure' && event.level === 'failure'
  const level = open.level === 'failure' ? open.level : event.level
  const said = { level, title, text, todo, href }
  const changes = { ...said, count: count + 1, lastAt: now, endedAt: null }
  updateEvent(tx, id, changes)
  const to = listChannelsFor(tx, open)
  if (isWorse) renewForAll(tx, to, id)
  const known = new Set(isWorse ? listAwaiting(tx, id) : listTold(tx, id))
  const added = to.filter((channel) => !known.has(channel.id))
  insertNotices(tx, added, { eventId: id, nextAt: null })
  if (!isWorse) renewUnsent(tx, to, { eventId: id, before: new Date(now.getTime() - untilRenewed) })
}

function end(tx: Tx, open: EventRow, event: NewEvent, now: Date) {
  updateEvent(tx, open.id, { endedAt: now })
  const { createdAt } = open
  const since = new Date(createdAt.getTime() - calm.most)
  const before = getEndBefore(tx, open, { since })
  const count = open.count + (before?.count ?? 0)
  const lasted = duration(Math.max(0, now.getTime() - createdAt.getTime()))
  const within = before ? '' : ` in ${lasted}`
  const often = count > 1 ? ` It happened ${count} times${within}.` : ` It lasted ${lasted}.`
  const text = event.text + often
  const stored = insertEvent(tx, { ...event, text, of: open.of, count, lastAt: now, endedAt: now })
  const told = new Set(listTold(tx, open.id))
  const nextAt = new Date(now.getTime() + calmOf(count))
  const to = listChannelsOf(tx, stored.ownerId).filter(({ id }) => told.has(id))
  insertNotices(tx, to, { eventId: stored.id, nextAt })
}

function tell(tx: Tx, event: NewEvent & { lastAt: Date }) {
  const stored = unlessOrphan(() => insertEvent(tx, event))
  if (!stored) return // it happened to what was just deleted
  insertNotices(tx, listChannelsFor(tx, stored), { eventId: stored.id, nextAt: null })
}

/** Those that chose its kind and its project. */
const listChannelsFor = (tx: Tx, { kind, ownerId, projectId }: EventRow) =>
  listChannelsOf(tx, ownerId).filter(
    ({ events, projects }) =>
      events.includes(kind) &&
      (projects === null || (projectId !== null && projects.includes(projectId))),
  )
