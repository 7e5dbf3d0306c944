import { afterAll, beforeAll, expect, test } from 'bun:test'
import { refusePrivate } from '../../src/registries/admit.ts'
import { aProject } from '../deployments/apps.ts'
import { sandbox } from '../docker/sandbox.ts'
import { made } from '../services/instances.ts'
import { testApp } from '../support/app.ts'
import { pushImage } from '../support/push-image.ts'
import { startRegistry } from '../support/registry.ts'
import type { ImageRegistry } from '../support/registry.ts'

const corner = sandbox()
const user = { username: 'puller', password: 'a password that opens it' }
let registry: ImageRegistry
let image: string

beforeAll(async () => {
  registry = await startRegistry(user)
  const auth = { ...user, serveraddress: registry.host }
  image = await pushImage(corner, { auth, line: 'echo private > /base' })
})

afterAll(async () => {
  await registry.stop()
  await corner.docker.removeImage(image, { force: true })
})

const stack = (image: string) =>
  `services: {a: {image: "${image}", init: true, command: [sleep, "999"], stop_grace_period: 1s}}`

test('an image that was brought with a login is nobody else’s, though the engine has it', async () => {
  const t = testApp()
  const [ada, bob] = [t.logIn('ada@example.com'), t.logIn('bob@example.com')]
  await ada.post('/settings/registries', { host: registry.host, ...user })
  expect((await made(t, ada, stack(image))).status).toBe('running')
  const here = (await t.docker.inspectImage(image))!

  const refused = await made(t, bob, stack(image))
  expect(refused).toMatchObject({ status: 'failed', error: { step: 'pulling' } })
  expect(refused.error.message).toContain(image)

  const project = await aProject(t, bob, { Dockerfile: '' }, { port: 0 })
  const ways = [
    `FROM ${image}\nCMD ["sleep", "999"]\n`,
    `FROM ${here.id.slice(7, 19)}\nCMD ["sleep", "999"]\n`,
  ]
  for (const Dockerfile of ways) {
    project.repository.commit({ Dockerfile })
    const deployment = await project.deploy()
    expect(deployment.status, Dockerfile).toBe('failed')
    expect(deployment.error.code, Dockerfile).toMatch(/^(registry|image)_/)
  }

  // with the registry away, what ada's containers are made of is hers still
  await registry.stop()
  expect((await made(t, ada, stack(image), { name: 'again' })).status).toBe('running')
})

test('a registry whose name leads to a private address is refused, as is the address', async () => {
  const { signal } = new AbortController()
  const ask = (registry: string, addresses: string[], allowHosts: string[] = []) =>
    refusePrivate({ config: { allowHosts }, lookup: async () => addresses }, { registry, signal })
      .then(() => 'admitted')
      .catch(({ code }) => code)
  expect(await ask('evil.example.com:5000', ['10.0.0.5'])).toBe('host_refused')
  expect(await ask('evil.example.com', ['8.8.8.8', '127.0.0.1'])).toBe('host_refused')
  expect(await ask('169.254.169.254', [])).toBe('host_refused')
  expect(await ask('registry.lan:5000', ['10.0.0.5'], ['10.0.0.0/8'])).toBe('admitted')
  expect(await ask('registry.example.com', ['8.8.8.8'])).toBe('admitted')
  expect(await ask('docker.io', ['10.0.0.5'])).toBe('admitted')
  expect(await ask('nowhere.invalid', [])).toBe('admitted') // the engine may know it
})
