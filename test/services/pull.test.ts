import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { RegistryAuth } from '../../src/docker/index.ts'
import { sandbox } from '../docker/sandbox.ts'
import { testApp, withAda } from '../support/app.ts'
import type { TestClient } from '../support/client.ts'
import { pushImage } from '../support/push-image.ts'
import { startDrippingRegistry } from '../support/dripping-registry.ts'
import { startRegistry } from '../support/registry.ts'
import type { ImageRegistry } from '../support/registry.ts'
import { leftOf, reaches, settled } from './instances.ts'

const corner = sandbox()
const user = { username: 'puller', password: 'a password that opens it' }
const pushed: string[] = []
let registry: ImageRegistry
let auth: RegistryAuth

beforeAll(async () => {
  registry = await startRegistry(user)
  auth = { ...user, serveraddress: registry.host }
})

afterAll(async () => {
  await registry.stop()
  for (const ref of pushed) await corner.docker.removeImage(ref, { force: true })
})

const stack = (image: string) =>
  `services: {a: {image: "${image}", init: true, command: [sleep, "999"], stop_grace_period: 1s}}`

test('a pull shows its layers, and needs the registry’s password', async () => {
  const image = await push()
  const { t, ada } = withAda(testApp())
  const { json } = await ada.post('/services/compose', { name: 'own', compose: stack(image) })
  const refused = await settled(t, ada, json)
  expect(refused).toMatchObject({ status: 'failed', error: { step: 'pulling' } })
  expect(refused.error.message).toMatch(/refuse|password|log ?in|authori/i)
  expect(await leftOf(t, json)).toEqual({ containers: [], networks: [], volumes: [] })

  await ada.post('/settings/registries', { host: registry.host, ...user })
  const events = await followed(ada, json.id)
  void ada.post(`/services/${json.id}/restart`)
  const seen = await events.until((event) => event.status === 'running')
  const layers = seen.flatMap(({ pull }) => pull).flatMap((image) => image.layers)
  expect(layers.some(({ total }) => total > 2_900_000)).toBe(true)
  const statuses = [...new Set(seen.map(({ status }) => status))]
  expect(statuses[0]).toBe('failed')
  expect(statuses.slice(1)).toEqual(
    ['pulling', 'creating', 'starting', 'running'].filter((status) => statuses.includes(status)),
  )
  expect(JSON.stringify(seen)).not.toContain(user.password)
})

test('an image that does not exist ends the start with its name', async () => {
  const { t, ada } = withAda(testApp())
  await ada.post('/settings/registries', { host: registry.host, ...user })
  const image = `${registry.host}/nothing:1`
  const { json } = await ada.post('/services/compose', { name: 'own', compose: stack(image) })
  const failed = await settled(t, ada, json)
  expect(failed).toMatchObject({ status: 'failed', error: { step: 'pulling' } })
  expect(failed.error.message).toContain(image)
})

test('a registry that drips holds no place of another’s start', async () => {
  const dripping = startDrippingRegistry()
  try {
    const t = testApp()
    const [ada, eve] = [t.logIn('ada@example.com'), t.logIn('eve@example.com')]
    const drips = await Promise.all(
      Array.from({ length: 5 }, async (_, at) => {
        const compose = stack(`${dripping.host}/drips/app:${at}`)
        return (await eve.post('/services/compose', { name: `drips-${at}`, compose })).json
      }),
    )
    const { json } = await ada.post('/services/compose', { name: 'own', compose: stack('busybox') })
    await reaches(t, json, 'running')
    for (const { id } of drips)
      expect((await eve.get(`/services/${id}`)).json).toMatchObject({ status: 'pulling' })
  } finally {
    dripping.stop()
  }
})

/** An image with a layer of its own, in the registry only. */
async function push() {
  const image = await pushImage(corner, { auth, line: 'head -c 3000000 /dev/urandom > /layer' })
  pushed.push(image)
  return image
}

type Layer = { id: string; status: string; current: number; total: number }
type Event = { status: string; pull: { layers: Layer[] }[] }

/** The stream of an instance, which has begun when this returns. */
async function followed(client: TestClient, id: string) {
  const response = await client.send(`/services/${id}/events?format=json`)
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
  const seen: Event[] = []
  let rest = ''
  const next = async () => {
    const { value = '' } = await reader.read()
    const parts = (rest + value).split('\n\n')
    rest = parts.pop()!
    for (const part of parts)
      if (part.startsWith('data: ')) seen.push(JSON.parse(part.slice('data: '.length)))
  }
  while (seen.length === 0) await next()
  return {
    async until(isLast: (event: Event) => boolean) {
      while (!isLast(seen.at(-1)!)) await next()
      await reader.cancel()
      return seen
    },
  }
}
