import type { Abortable, Engine } from './engine.ts'
import { readJsonLines } from './lines.ts'

export type EngineEvent = {
  serverId: string
  /** Such as `container`, `image`, `network`, `volume`. */
  type: string
  /** Such as `start`, `die`, `oom`, `health_status: healthy`. */
  action: string
  id: string
  /** The object's labels, and what the engine adds: `name`, `image`, `exitCode`. */
  attributes: Record<string, string>
  time: Date
}

type Sent = {
  Type: string
  Action: string
  Actor: { ID: string; Attributes: Record<string, string> | null }
  timeNano: number
}

export type EventOptions = Abortable & {
  filters?: Partial<Record<'type' | 'event' | 'label' | 'container', string[]>>
  /** Starts with events since this time, as far as the engine keeps them: 256 events. */
  since?: Date
  /** Called when the subscription is active: later events are received. */
  opened?: (() => void) | undefined
}

/** Events from now on. Throws when the connection ends: reconnect then. */
export async function* engineEvents(
  engine: Engine,
  { filters = {}, since, signal, opened }: EventOptions = {},
): AsyncGenerator<EngineEvent> {
  const query = { filters, since: since && toEngineTime(since) }
  const bytes = engine.stream('GET', '/events', { query, signal, opened })
  for await (const { Type, Action, Actor, timeNano } of readJsonLines<Sent>(bytes)) {
    const time = new Date(timeNano / 1e6)
    const { ID: id, Attributes: attributes } = Actor
    const of = { serverId: engine.serverId, type: Type, action: Action, id, time }
    yield { ...of, attributes: attributes ?? {} }
  }
  throw engine.hungUp()
}

/** Seconds and nanoseconds, the format of `since` and `until`; the engine refuses RFC 3339. */
export function toEngineTime(time: Date | string): string {
  const text = typeof time === 'string' ? time : time.toISOString()
  const fraction = /\.(\d+)/.exec(text)?.[1] ?? ''
  return `${Math.floor(Date.parse(text) / 1000)}.${fraction.padEnd(9, '0')}`
}
