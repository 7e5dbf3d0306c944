import { expect, test } from 'bun:test'
import { insertDeployment } from '../../src/deployments/store.ts'
import type { Docker } from '../../src/docker/index.ts'
import { pullFailure } from '../../src/docker/pull-failures.ts'
import { deliverBuilt } from '../../src/runtime/images/built-images.ts'
import { deliverImage } from '../../src/runtime/images/deliver-image.ts'
import { listLiveInstances } from '../../src/runtime/store.ts'
import type { FakeEngine } from '../interleavings/engine/engine.ts'
import { otherEngine } from '../support/other-engine.ts'
import { serverId, storeServers } from '../support/servers.ts'
import { aComponent, aWorkload } from './workload.ts'

const second = serverId(2)
const host = 'registry.example.com'
const digest = `sha256:${'d'.repeat(64)}`

/** Two servers, an image that only the first one has, and a registry that both reach. */
async function twoServers({ registry = `${host}/davit` as string | null } = {}) {
  const { engine, docker: other } = otherEngine()
  const s = await aWorkload({ isSimulated: true, otherEngines: [other] })
  storeServers(s.db, [{}, {}])
  Object.assign(engine, { networks: s.engine.networks })
  Object.assign(s.deps.config, { registry })
  const image = `davit/${s.workload.projectId}:one`
  s.engine.addImage({ tags: [image], command: ['sleep', '99'] })
  Object.assign(s.workload, { placement: { server: second } })
  /** Each call that a registry got, and with whose login. */
  const calls: string[] = []
  const { loadImage } = other
  const asked: Pick<Docker, 'pushImage' | 'pullImage' | 'loadImage'> = {
    async pushImage(ref, { auth }) {
      expect(s.engine.image(ref)).toBeDefined()
      calls.push(`push ${ref} as ${auth?.username}`)
      return digest
    },
    async *pullImage(ref, { auth } = {}) {
      calls.push(`pull ${ref} as ${auth?.username}`)
      engine.addImage({ tags: [ref], command: ['sleep', '99'] })
    },
    async loadImage(...args) {
      calls.push('copy')
      return loadImage(...args)
    },
  }
  s.faults.pushImage = asked.pushImage
  Object.assign(other, { pullImage: asked.pullImage, loadImage: asked.loadImage })
  const [made] = [aComponent('one', {})]
  return {
    ...{
      ...s,
      engine,
      own: s.engine,
      other,
      calls,
      image,
      name: `${host}/davit/${s.workload.projectId}`,
    },
    roll: (version = 'one') =>
      s.roll(version, { components: [{ ...made!, options: { ...made!.options, image } }] }),
    async addLogin(of: ReturnType<typeof s.logInAsAdmin>, username: string) {
      const login = { host, username, password: 'secret' }
      expect((await of.post('/settings/registries', login)).status).toBe(201)
    },
    live: () => listLiveInstances(s.db, s.workload.id),
    tags: (one: FakeEngine) => [...one.images.values()].flatMap(({ tags }) => [...tags]),
  }
}

test('a built image is pushed and pulled by its digest with the login of an admin, and keeps one name', async () => {
  const s = await twoServers()
  await s.addLogin(s.ada, 'member')
  await s.addLogin(s.logInAsAdmin(), 'pusher')
  await s.roll()
  expect(s.calls).toEqual([`push ${s.name}:one as pusher`, `pull ${s.name}@${digest} as pusher`])
  expect(s.live()).toMatchObject([{ serverId: second }])
  expect(s.tags(s.engine)).toEqual([s.image])
  expect(s.tags(s.own)).not.toContain(`${s.name}:one`)
})

test('an image that two apps need on a server at once is brought there once', async () => {
  const s = await twoServers()
  const asked = { image: s.image, serverId: second, workload: s.workload, log: () => {} }
  const { signal } = new AbortController()
  await Promise.all([1, 2].map(() => deliverImage(s.deps, { ...asked, signal })))
  expect(s.calls).toHaveLength(2)
})

test('without a registry, or a login for it, the image is copied, or pushed without one', async () => {
  const copied = await twoServers({ registry: null })
  await copied.roll()
  expect(copied.calls).toEqual(['copy'])
  const open = await twoServers()
  await open.roll()
  expect(open.calls[0]).toBe(`push ${open.name}:one as undefined`)
})

test('a registry that is away is tried again, then the start fails with that, and what runs stays', async () => {
  const s = await twoServers()
  Object.assign(s.workload, { placement: null })
  await s.roll()
  const before = s.live()
  Object.assign(s.workload, { placement: { server: second } })
  let tries = 0
  s.faults.pushImage = async () => {
    tries++
    throw pullFailure('registry_unreachable', s.name)
  }
  const { signal } = new AbortController()
  const delivery = { image: s.image, serverId: second, server: 'two', workload: s.workload, signal }
  const lines: string[] = []
  const log = (line: string) => void lines.push(line)
  const delivered = deliverBuilt(s.deps, { ...delivery, log }, { pauses: [1, 1] })
  await expect(delivered).rejects.toMatchObject({ code: 'image_not_delivered' })
  expect([tries, lines.filter((line) => line.includes(s.name)).length]).toEqual([3, 2])

  s.faults.pushImage = async () => {
    throw pullFailure('registry_unauthorized', s.name)
  }
  await expect(s.roll('two')).rejects.toMatchObject({ code: 'image_not_delivered' })
  expect(s.live()).toEqual(before)
  expect([s.tags(s.own), s.engine.containers.size]).toEqual([['busybox:latest', s.image], 0])
})

test('what the registry lost is pushed again, and a cancel ends the wait for one that is away', async () => {
  const s = await twoServers()
  const { pullImage } = s.other
  s.other.pullImage = () => {
    s.other.pullImage = pullImage
    throw pullFailure('image_not_found', s.name)
  }
  const cancel = new AbortController()
  const delivery = {
    ...{ image: s.image, serverId: second, server: 'two', workload: s.workload },
    ...{ log: () => {}, signal: cancel.signal },
  }
  await deliverBuilt(s.deps, delivery, { pauses: [1] })
  expect(s.calls.map((call) => call.split(' ', 1)[0])).toEqual(['push', 'push', 'pull'])

  s.faults.pushImage = async () => {
    setTimeout(() => cancel.abort(new Error('cancelled')))
    throw pullFailure('registry_busy', s.name)
  }
  const waiting = deliverBuilt(s.deps, delivery, { pauses: [100_000] })
  await expect(waiting).rejects.toThrow()
  expect(cancel.signal.aborted).toBe(true)
})

test('an image that was pulled is pulled there with its owner’s login, else copied, and never pushed', async () => {
  const s = await twoServers()
  await s.addLogin(s.ada, 'ada')
  insertDeployment(s.db, {
    ...{ id: 'one', projectId: s.workload.projectId, environmentId: s.workload.id },
    ...{ status: 'deploying', trigger: 'manual', triggeredBy: 'ada', repositoryUrl: '' },
    ...{ image: s.image, pullReference: `${host}/team/app:1`, pullDigest: digest },
  })
  await s.roll()
  expect(s.calls.splice(0)).toEqual([`pull ${host}/team/app@${digest} as ada`])
  expect(s.tags(s.engine)).toEqual([s.image])

  await s.other.removeImage(s.image, { force: true })
  s.other.pullImage = () => {
    throw pullFailure('registry_unauthorized', host)
  }
  await s.roll()
  expect(s.calls).toEqual(['copy'])
})
