import { onTestFinished } from 'bun:test'
import { collect } from '../logs/collecting.ts'
import type { TestApp } from '../support/app.ts'
import type { TestClient } from '../support/client.ts'
import { aRunning, aStranger } from './engine.ts'

export type Event = { id: string | null; event: string | null; data: string }

/** An open stream, read event by event. */
export class EventStream {
  readonly status: number
  readonly #reader
  readonly #decoder = new TextDecoder()
  #text = ''
  /** The id of the last event that had one. */
  lastId: string | null = null

  constructor(response: Response) {
    this.status = response.status
    this.#reader = response.body!.getReader()
    onTestFinished(() => this.close())
  }

  /** The next event; null when the stream has ended. */
  async next(): Promise<Event | null> {
    for (;;) {
      const end = this.#text.indexOf('\n\n')
      if (end >= 0) {
        const event = parse(this.#text.slice(0, end))
        this.#text = this.#text.slice(end + 2)
        if (event.id) this.lastId = event.id
        if (event.data !== '' || event.event) return event
      } else {
        const { done, value } = await this.#reader.read()
        if (done) return null
        this.#text += this.#decoder.decode(value, { stream: true })
      }
    }
  }

  /** The events up to the first that is wanted, this one included. */
  async until(wanted: (event: Event) => boolean): Promise<Event[]> {
    const events: Event[] = []
    for (let event = await this.next(); event; event = await this.next()) {
      events.push(event)
      if (wanted(event)) return events
    }
    throw new Error(`The stream ended after ${JSON.stringify(events.slice(-5))}`)
  }

  /** All events until it ends. */
  async rest(): Promise<Event[]> {
    const events: Event[] = []
    for (let event = await this.next(); event; event = await this.next()) events.push(event)
    return events
  }

  async close() {
    await this.#reader.cancel()
  }
}

/** Follows the log of a container as a program does. */
export async function followLog(
  client: TestClient,
  id: string,
  { lastEventId, ...query }: Record<string, string> = {},
) {
  const parameters = new URLSearchParams({ format: 'json', ...query })
  const headers = {
    Accept: 'text/event-stream',
    ...(lastEventId && { 'Last-Event-ID': lastEventId }),
  }
  return new EventStream(await client.send(`/containers/${id}/logs?${parameters}`, { headers }))
}

/** A container that runs, and one who may read its log, which is kept, or the engine's. */
export const kinds = {
  'of Davit’s own, as it is kept': async (t: TestApp, script: string) => {
    collect(t)
    const client = t.logIn('ada@example.com')
    return { client, id: (await aRunning(t, client, script)).id }
  },
  'of others, as the engine has it': async (t: TestApp, script: string) => {
    const id = await aStranger(t, script)
    await t.docker.startContainer(id)
    return { client: t.logInAsAdmin(), id }
  },
}

export type LineJson = { time: string; stream: string; text: string; id: string | null }

/** The lines among events, without Davit's own. */
export const linesOf = (events: Event[]): LineJson[] =>
  events
    .filter(({ event }) => event === null)
    .map(({ data }) => JSON.parse(data))
    .filter(({ stream }) => stream !== 'system')

export const textsOf = (events: Event[]) => linesOf(events).map(({ text }) => text)

export const notesOf = (events: Event[]): string[] =>
  events
    .filter(({ event }) => event === null)
    .map(({ data }) => JSON.parse(data))
    .filter(({ stream }) => stream === 'system')
    .map(({ text }) => text)

export const isLine = (text: string) => (event: Event) =>
  event.event === null && JSON.parse(event.data).text === text

export const isEvent = (name: string, data?: string) => (event: Event) =>
  event.event === name && (data === undefined || event.data === data)

function parse(text: string): Event {
  const event: Event = { id: null, event: null, data: '' }
  for (const line of text.split('\n')) {
    if (line.startsWith('id: ')) event.id = line.slice(4)
    if (line.startsWith('event: ')) event.event = line.slice(7)
    if (line.startsWith('data: ')) event.data += line.slice(6)
  }
  return event
}
