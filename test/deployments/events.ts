import { readEvents } from '../demo/events.ts'
import type { ServerEvent } from '../demo/events.ts'
import type { TestClient } from '../support/client.ts'

export type Key = { projectId: string; id: string }

export const pathOf = ({ projectId, id }: Key) => `/projects/${projectId}/deployments/${id}`

export const statusOf = async (client: TestClient, deployment: Key) =>
  (await client.get(pathOf(deployment))).json.status

/** The events of a deployment's log, as JSON, until it ends or the loop is left. */
export async function* eventsOf(
  client: TestClient,
  deployment: Key,
  {
    after,
    lastEventId,
    signal,
  }: { after?: number; lastEventId?: number; signal?: AbortSignal } = {},
): AsyncGenerator<ServerEvent> {
  const query = `?format=json${after === undefined ? '' : `&after=${after}`}`
  const response = await client.send(`${pathOf(deployment)}/logs${query}`, {
    headers: {
      Accept: 'text/event-stream',
      ...(lastEventId !== undefined && { 'Last-Event-ID': String(lastEventId) }),
    },
    ...(signal && { signal }),
  })
  if (!response.ok) throw new Error(`The log was refused: ${await response.text()}`)
  yield* readEvents(response.body!)
}

/** Resolves when the deployment has reached a state; throws when it ended without it. */
export const reaches = (client: TestClient, deployment: Key, status: string) =>
  hears(client, deployment, ({ name, data }) => name === 'status' && data === status)

/** Resolves when a line of the log contains the text. */
export const logs = (client: TestClient, deployment: Key, text: string) =>
  hears(client, deployment, ({ name, data }) => name === 'message' && data.includes(text))

async function hears(
  client: TestClient,
  deployment: Key,
  matches: (event: ServerEvent) => boolean,
) {
  const seen: string[] = []
  for await (const event of eventsOf(client, deployment)) {
    if (matches(event)) return
    seen.push(event.data)
  }
  throw new Error(`It did not come to pass; the log has:\n${seen.join('\n')}`)
}
