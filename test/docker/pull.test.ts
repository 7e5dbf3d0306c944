import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { connectEngine } from '../../src/docker/engine.ts'
import type { RegistryAuth } from '../../src/docker/index.ts'
import { connectDocker, EngineError } from '../../src/docker/index.ts'
import { explainPull } from '../../src/docker/pull-failures.ts'
import { startRegistry } from '../support/registry.ts'
import { startDrippingRegistry } from '../support/dripping-registry.ts'
import type { ImageRegistry } from '../support/registry.ts'
import { answer, fakeEngine } from './fake-engine.ts'
import { collect, sandbox } from './sandbox.ts'

const { docker, name, run } = sandbox()
const engine = connectEngine(undefined)
const user = { username: 'puller', password: 'a pass-word? that öpens' }
const pushed: string[] = []

let open: ImageRegistry
let closed: ImageRegistry
let auth: RegistryAuth

beforeAll(async () => {
  open = await startRegistry()
  closed = await startRegistry(user)
  auth = { ...user, serveraddress: closed.host }
})

afterAll(async () => {
  await open.stop()
  await closed.stop()
  for (const ref of pushed) await docker.removeImage(ref, { force: true })
})

/** An image with a layer of its own, in the registry only. */
async function push(host: string, as?: RegistryAuth) {
  const repo = `${host}/app-${name()}`
  const id = await run('head -c 3000000 /dev/urandom > /layer')
  await docker.waitForExit(id)
  await engine.request('POST', '/commit', { query: { container: id, repo, tag: '1' } })
  await engine.request('POST', '/commit', { query: { container: id, repo, tag: 'latest' } })
  for (const tag of ['1', 'latest']) {
    const path = `/images/${repo}/push`
    await collect(engine.stream('POST', path, { query: { tag }, auth: as ?? auth }))
    await docker.removeImage(`${repo}:${tag}`)
    pushed.push(`${repo}:${tag}`)
  }
  return repo
}

const failure = (ref: string, options?: { auth: RegistryAuth }) =>
  collect(docker.pullImage(ref, options)).then(
    () => null,
    (error) => error,
  )

test('an image is brought, and each layer shows how far it is', async () => {
  const repo = await push(open.host)
  const progress = await collect(docker.pullImage(`${repo}:1`))
  const mine = progress.filter(({ total }) => total > 2_900_000)
  expect(mine.map(({ status }) => status)).toContain('Downloading')
  expect(mine.every(({ current, total }) => current <= total)).toBe(true)
  expect(progress.every(({ layer }) => /^[0-9a-f]{12}$/.test(layer))).toBe(true)
  expect(progress.at(-1)).toMatchObject({ status: 'Pull complete', current: 0, total: 0 })
  expect((await docker.inspectImage(`${repo}:1`))!.tags).toEqual([`${repo}:1`])
})

test('a name without a tag means latest, not every tag', async () => {
  const repo = await push(open.host)
  await collect(docker.pullImage(repo, { platform: 'linux/amd64' }))
  expect((await docker.inspectImage(repo))!.tags).toEqual([`${repo}:latest`])
  expect(await docker.inspectImage(`${repo}:1`)).toBeNull()
})

describe('a registry that requires a login', () => {
  test('gives the image to who has it', async () => {
    const repo = await push(closed.host)
    await collect(docker.pullImage(`${repo}:1`, { auth }))
    expect(await docker.inspectImage(`${repo}:1`)).not.toBeNull()
  })

  test('refuses all others, and the password is in no error', async () => {
    const repo = await push(closed.host)
    const wrong = { ...auth, password: 'wr0ng-password' }
    for (const error of [await failure(`${repo}:1`), await failure(`${repo}:1`, { auth: wrong })]) {
      expect(error).toMatchObject({ code: 'registry_unauthorized' })
      expect(`${Bun.inspect(error)} ${Bun.inspect(error.cause)}`).not.toContain('wr0ng-password')
    }
  })
})

test('an image that is not there is told', async () => {
  const repo = await push(open.host)
  expect(await failure(`${open.host}/no/such:1`)).toMatchObject({ code: 'image_not_found' })
  expect(await failure(`${repo}:2`)).toMatchObject({
    code: 'image_not_found',
    message: `The registry has no image ${repo}:2.`,
  })
})

test('a registry that doesn’t respond, and a name that is none, are told', async () => {
  expect(await failure('127.0.0.1:1/app:1')).toMatchObject({ code: 'registry_unreachable' })
  expect(await failure('registry.invalid/app:1')).toMatchObject({ code: 'registry_unreachable' })
  expect(await failure('Not An Image')).toMatchObject({ code: 'image_name_invalid' })
})

test('aborting ends the pull', async () => {
  const repo = await push(open.host)
  const controller = new AbortController()
  const pull = docker.pullImage(`${repo}:1`, { signal: controller.signal })
  await pull.next()
  controller.abort(new Error('enough'))
  expect(await collect(pull).catch((error) => error.message)).toBe('enough')
})

describe('a registry that drips', () => {
  let dripping: ReturnType<typeof startDrippingRegistry>
  beforeEach(() => {
    dripping = startDrippingRegistry()
  })
  afterEach(() => dripping.stop())
  const usual = { bytes: 512 * 1024, ms: 60_000 }
  const soon = { bytes: 512 * 1024, ms: 1500 }

  test('ends the pull with its reason', async () => {
    const paces = { usual: soon, awaited: soon }
    for (const image of ['drips/app:1', 'silent/app:1']) {
      const pull = collect(docker.pullImage(`${dripping.host}/${image}`, { paces }))
      const failed = await pull.catch((error) => error)
      expect(failed).toMatchObject({ code: 'pull_stalled' })
      expect(failed.message).toContain(image)
    }
  })

  test('holds the downloads of the engine until another owner waits for one', async () => {
    const repo = await push(open.host)
    const paces = { usual, awaited: soon }
    const stalled = collect(
      docker.pullImage(`${dripping.host}/drips/app:1`, { paces, ownerId: 'eve' }),
    ).catch((error) => error)
    await dripping.begun
    await collect(
      docker.pullImage(`${repo}:1`, { paces: { usual, awaited: usual }, ownerId: 'ada' }),
    )
    expect(await stalled).toMatchObject({ code: 'pull_stalled' })
  })

  test('is named when a digest doesn’t come', async () => {
    const digest = docker.imageDigest(`${dripping.host}/silent/app:1`, { timeout: 1000 })
    expect(await digest.catch((error) => error)).toMatchObject({ code: 'registry_unreachable' })
  })
})

test('an engine that shuts down normally has pulled nothing', async () => {
  const host = await fakeEngine(({ line, socket }) => {
    if (line.startsWith('POST')) answer(socket, 200, '{"status":"Pulling from x","id":"1"}\n')
    else answer(socket, 404, '{"message":"No such image"}')
  })
  const pull = collect(connectDocker({ host }).pullImage('x:1'))
  expect(await pull.catch((error) => error.code)).toBe('engine_unreachable')
})

test('what engines say is put into words', () => {
  const said = {
    'failed to register layer: write /x: no space left on device': 'no_space',
    'no matching manifest for linux/amd64 in the manifest list entries': 'image_platform',
    'toomanyrequests: You have reached your pull rate limit.': 'registry_busy',
    'pull access denied for x, repository does not exist or may require docker login: denied: requested access to the resource is denied':
      'image_not_found',
    'Get "https://r.example/v2/": dial tcp 1.2.3.4:443: i/o timeout': 'registry_unreachable',
    'Get "https://r.example/v2/": x509: certificate signed by unknown authority':
      'registry_unreachable',
    'something new': 'pull_failed',
  }
  for (const [message, code] of Object.entries(said))
    expect(explainPull('x:1', new EngineError(500, message))).toMatchObject({ code })
})
