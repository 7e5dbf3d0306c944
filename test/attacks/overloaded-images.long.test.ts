import { expect, onTestFinished, test } from 'bun:test'
import { connectEngine } from '../../src/docker/engine.ts'
import { anApp, aProject } from '../deployments/apps.ts'
import { collect, sandbox } from '../docker/sandbox.ts'
import { leftOf, made } from '../services/instances.ts'
import { testApp } from '../support/app.ts'
import { startRegistry } from '../support/registry.ts'

const engine = connectEngine(undefined)
const times = (count: number, text: (n: number) => string) =>
  Array.from({ length: count }, (_, n) => text(n)).join(' ')
const labels = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`l${n}`, 'x'.repeat(60_000)]))

/** An image on the engine with such settings, as its operator or a registry may have brought it. */
async function imageWith(config: object) {
  const { docker, name, run } = sandbox()
  const repo = name()
  const container = await run('true')
  await docker.waitForExit(container)
  await engine.request('POST', '/commit', { query: { container, repo, tag: '1' }, body: config })
  onTestFinished(async () => void (await docker.removeImage(`${repo}:1`)))
  return `${repo}:1`
}

test.each<[string, object, string]>([
  ['150 labels of 60 KB', { Labels: labels(150) }, ''],
  ['labels of 180 KB', { Labels: labels(3) }, ''],
  ['a variable of 200 KB', { Env: [`X=${'x'.repeat(200_000)}`] }, ''],
  ['a command of 200 KB', { Cmd: ['echo', 'x'.repeat(200_000)] }, ''],
  ['2,000 ports', {}, 'EXPOSE 1-2000'],
  ['65 volumes', {}, `VOLUME ${times(65, (n) => `/v${n}`)}`],
])('an image with %s becomes no container, and does not stay', async (_, config, line) => {
  const t = testApp()
  const bob = t.logIn('bob@example.com')
  const Dockerfile = `FROM ${await imageWith(config)}\n${line}\n`
  const project = await aProject(t, bob, { Dockerfile }, { port: 0 })
  const { status, error } = await project.deploy()
  expect([status, error.code]).toEqual(['failed', 'image_overloaded'])
  expect(error.message).toContain('more than a container may have')
  await t.jobs.idle()
  expect(await t.docker.listImages({ labels: [`davit.project=${project.id}`] })).toEqual([])
  expect((await bob.get('/containers/api')).json.containers).toEqual([])
})

test('an image of a registry with 60 labels of 60 KB becomes no service, and does not stay', async () => {
  const t = testApp()
  const { docker, name, run } = sandbox()
  const registry = await startRegistry()
  onTestFinished(() => registry.stop())
  const repo = `${registry.host}/app-${name()}`
  const container = await run('true')
  await docker.waitForExit(container)
  const body = { Labels: labels(60) }
  await engine.request('POST', '/commit', { query: { container, repo, tag: '1' }, body })
  onTestFinished(async () => void (await docker.removeImage(`${repo}:1`)))
  const auth = { username: '', password: '', serveraddress: registry.host }
  await collect(engine.stream('POST', `/images/${repo}/push`, { query: { tag: '1' }, auth }))
  await docker.removeImage(`${repo}:1`)

  const service = await made(t, t.logIn('bob@example.com'), `services: {a: {image: "${repo}:1"}}`)
  expect(service).toMatchObject({
    status: 'failed',
    error: {
      code: 'image_overloaded',
      message: expect.stringContaining(`The image ${repo}:1 has`),
    },
  })
  expect(await docker.hasImage(`${repo}:1`)).toBe(false)
  expect(await leftOf(t, service)).toEqual({ containers: [], networks: [], volumes: [] })
})

test('an image has its health looked at once a second at the most', async () => {
  const t = testApp()
  const bob = t.logIn('bob@example.com')
  const files = anApp('well')
  const Dockerfile = `${files.Dockerfile}\nHEALTHCHECK --interval=1ms --timeout=3s CMD true\n`
  const project = await aProject(t, bob, { ...files, Dockerfile })
  const { status, containerId } = await project.deploy()
  expect(status).toBe('running')
  const { Config } = await engine.request<{ Config: { Healthcheck: object } }>(
    'GET',
    `/containers/${containerId}/json`,
  )
  expect(Config.Healthcheck).toMatchObject({
    Test: ['CMD-SHELL', 'true'],
    Interval: 1e9,
    Timeout: 3e9,
  })
})
