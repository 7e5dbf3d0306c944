import { getService } from '../../src/services/store.ts'
import type { Service } from '../../src/services/store.ts'
import type { TestApp } from '../support/app.ts'
import type { TestClient } from '../support/client.ts'
import { until } from '../support/until.ts'

/** A web server that serves one variable. */
export const site = `
services:
  web:
    image: busybox
    command: [sh, -c, 'mkdir -p /www && echo "$$GREETING" > /www/index.html && exec httpd -f -p 80 -h /www']
    environment:
      GREETING: \${GREETING:-hello}
    ports: ["80"]
    stop_grace_period: 1s
`

/** One that runs until it is stopped, which it is at once. */
export const idle = 'image: busybox, init: true, command: [sleep, "999"], stop_grace_period: 1s'

type Fields = Record<string, unknown>

/** Makes a service of a Compose file, and waits for the end of its start. */
export async function made(t: TestApp, client: TestClient, compose: string, fields: Fields = {}) {
  const { status, json, text } = await client.post('/services/compose', {
    name: 'thing',
    compose,
    ...fields,
  })
  if (status !== 201) throw new Error(`The service was refused: ${text}`)
  return settled(t, client, json)
}

/** The instance once nothing is at work on it. */
export async function settled(t: TestApp, client: TestClient, { id }: { id: string }) {
  await t.jobs.idle()
  return (await client.get(`/services/${id}`)).json
}

/** Resolves when its row is so, now or once an event says that it changed. */
export async function untilService(
  { db, changes }: TestApp,
  { id }: { id: string },
  isSo: (service: Service) => boolean,
) {
  const end = new AbortController()
  const so = Promise.withResolvers<void>()
  const look = () => isSo(getService(db, id)!) && so.resolve()
  changes.listen(end.signal, () => setTimeout(look), id)
  look()
  await so.promise
  end.abort()
}

/** The same for its state. */
export const reaches = (t: TestApp, service: { id: string }, wanted: Service['status']) =>
  untilService(t, service, ({ status }) => status === wanted)

/** What the engine has of an instance. */
export async function leftOf({ docker, instanceId }: TestApp, { id }: { id: string }) {
  const labels = [`davit.instance=${instanceId}`, `davit.service=${id}`]
  const [containers, networks, volumes] = await Promise.all([
    docker.listContainers({ labels, all: true }),
    docker.listNetworks({ labels }),
    docker.listVolumes({ labels }),
  ])
  return {
    containers: containers.map(({ name }) => name),
    networks: networks.map(({ name }) => name),
    volumes: volumes.map(({ name }) => name),
  }
}

/** What it answers at its address, as soon as it does: one without a health check may not listen yet. */
export async function answerOf({ url }: { url: string }) {
  let answer: string | null = null
  await until(async () => {
    answer = await fetch(url).then(
      (response) => response.text(),
      () => null,
    )
    return answer !== null
  })
  return answer!.trim()
}
