import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { RegistryAuth } from '../../src/docker/index.ts'
import { sandbox } from '../docker/sandbox.ts'
import { testApp, withAda } from '../support/app.ts'
import type { TestApp } from '../support/app.ts'
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
  const seen = pagesAtChanges(t, ada, json)
  await ada.post(`/services/${json.id}/restart`)
  expect(await settled(t, ada, json)).toMatchObject({ status: 'running', error: null })
  const pages = (await seen.end()).join()
  const layers = [...pages.matchAll(/<progress aria-label="Layer [^"]*" max="(\d+)"/g)]
  expect(layers.some(([, total]) => Number(total) > 2_900_000)).toBe(true)
  expect(pages).not.toContain(user.password)
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

/** The page of an instance as often as it changes and can be read. */
function pagesAtChanges({ changes }: TestApp, client: TestClient, { id }: { id: string }) {
  const over = new AbortController()
  const pages: string[] = []
  let reading: Promise<void> | null = null
  const read = async () => {
    pages.push((await client.page(`/services/${id}`)).text)
    reading = null
  }
  changes.listen(over.signal, () => void (reading ??= read()), id)
  return {
    async end() {
      over.abort()
      await reading
      return pages
    },
  }
}
