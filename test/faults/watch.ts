import type { DavitClient } from '../demo/client.ts'
import { readEvents } from '../demo/events.ts'
import { pathOf } from '../deployments/events.ts'
import type { Key } from '../deployments/events.ts'

export type Deployment = Key & { status: string; url: string; containerId: string | null }
export type Viewer = ReturnType<typeof watch>

/** Reads a deployment's log over SSE until it ends or the connection does; the lines are kept. */
export function watch(client: DavitClient, deployment: Key) {
  const seen = new Map<number, string>()
  const hopes: { met: (what: string) => boolean; resolve: () => void }[] = []
  const heard: string[] = []
  const ended = (async () => {
    const body = await client.stream(`${pathOf(deployment)}/logs?format=json`, null)
    for await (const { id, name, data } of readEvents(body)) {
      if (id !== null) seen.set(Number(id), (JSON.parse(data) as { text: string }).text)
      const what = id === null ? `${name} ${data}` : seen.get(Number(id))!
      heard.push(what)
      for (const { met, resolve } of hopes) if (met(what)) resolve()
    }
  })().catch(() => {}) // Davit was killed
  return {
    deployment,
    seen,
    /** Its lines and events in the order of their coming, an event as `status building`. */
    events: () => heard,
    ended,
    /** Resolves when a line or an event contains the text; or at the end. */
    hears(text: string) {
      const met = (what: string) => what.includes(text)
      if (heard.some(met)) return Promise.resolve()
      const { promise, resolve } = Promise.withResolvers<void>()
      hopes.push({ met, resolve })
      return Promise.race([promise, ended])
    },
  }
}
