import { expect } from 'bun:test'
import { readEvents } from '../../demo/events.ts'
import type { ContainerOptions } from '../../../src/docker/index.ts'
import { testApp, withAda } from '../../support/app.ts'
import type { TestClient } from '../../support/client.ts'
import { aRunning } from '../engine.ts'

type Event = { name: string; data: string }

/** The events of a stream, until the loop is left. */
export async function* watch(client: TestClient, id: string, query = ''): AsyncGenerator<Event> {
  const response = await client.send(`/containers/${id}/stats${query}`)
  expect(response.headers.get('Content-Type')).toStartWith('text/event-stream')
  yield* readEvents(response.body!)
}

export async function* watchJson(client: TestClient, id: string): AsyncGenerator<any> {
  for await (const { name, data } of watch(client, id, '?format=json'))
    yield name === 'message' ? JSON.parse(data) : { name, data }
}

/** Waits for an event with that state, and gives it back. */
export async function untilState(stream: AsyncGenerator<any>, state: string) {
  for (;;) {
    const { value, done } = await stream.next()
    if (done) throw new Error(`It never was ${state}.`)
    if (value.state === state) return value
  }
}

/** Looks four times as often, for those who wait for many looks. */
export const hasty = () => withAda(testApp({}, { usageInterval: 500 }))

/** A container that runs, and what its owner is shown of it. */
export async function watched(script?: string, options?: Partial<ContainerOptions>) {
  const { t, ada } = hasty()
  const { id } = await aRunning(t, ada, script, options)
  return { t, ada, id, stream: watchJson(ada, id) }
}
