import { killed } from '../docker/index.ts'
import type { Container } from '../docker/index.ts'
import { sseEvent } from '../web/sse.ts'
import { noteHtml } from './log-line.ts'
import type { LineFormat } from './log-line.ts'

type LogState = Container['state'] | 'away'
type LogEnd = 'removed' | 'unreadable' | 'until'

/** A message between log lines about something that happened to the container. */
export class LogNote {
  readonly #time = new Date().toISOString()

  constructor(readonly about: { text?: string | null; state?: LogState; done?: LogEnd }) {}

  events(format: LineFormat) {
    const { text, state, done } = this.about
    return (
      (text ? sseEvent({ data: this.#line(text, format) }) : '') +
      (state ? sseEvent({ event: 'state', data: state }) : '') +
      (done ? sseEvent({ event: 'done', data: done }) : '')
    )
  }

  #line(text: string, format: LineFormat) {
    if (format !== 'json') return noteHtml({ time: Date.parse(this.#time), text })
    return JSON.stringify({ time: this.#time, stream: 'system', text, id: null })
  }
}

export const gapNote = (missedSince: string) =>
  new LogNote({
    text: `Lines may be missing here: Docker no longer has those after ${missedSince.slice(0, 19).replace('T', ' ')} UTC.`,
  })

export const awayNote = () =>
  new LogNote({
    text: 'Docker can’t be reached. The log continues when it is back.',
    state: 'away',
  })

const ends: Record<LogEnd, string | null> = {
  removed: 'The container and its log were removed.',
  unreadable: 'The log driver of this container doesn’t support reading.',
  until: null,
}

/** The last event of a stream: the client must not reconnect. */
export const endNote = (done: LogEnd) => new LogNote({ text: ends[done], done })

type ObservedState = Pick<Container, 'state' | 'exitCode' | 'oomKilled' | 'startedAt'>

/** Compares two inspections of a container; null when nothing changed. */
export function changeNote(
  before: ObservedState | 'away' | null,
  now: ObservedState,
): LogNote | null {
  const { state } = now
  if (before === null) return new LogNote({ state })
  if (before === 'away') return new LogNote({ text: 'Docker is back.', state })
  const again = before.startedAt?.getTime() !== now.startedAt?.getTime()
  if (before.state === state && !again) return null
  const texts = again ? ['The container started again.'] : []
  if (again && before.state === 'running' && state === 'running')
    texts.unshift('The container ended.')
  if (hasEnded(now)) texts.push(endOf(now))
  return new LogNote({ text: texts.join(' '), state })
}

const hasEnded = ({ state }: ObservedState) => state !== 'running' && state !== 'paused'

const endOf = ({ exitCode, oomKilled, state }: ObservedState) =>
  `The container ended: exit code ${exitCode}${oomKilled && exitCode === killed ? ', out of memory' : ''}.${state === 'restarting' ? ' Docker restarts it.' : ''}`
