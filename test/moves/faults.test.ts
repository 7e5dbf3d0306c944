import { expect, spyOn, test } from 'bun:test'
import { apps, giveUpServer } from '../../src/deployments/observe.ts'
import { labelsFor, processLabel, thisProcess } from '../../src/docker/labels.ts'
import { EngineError } from '../../src/docker/index.ts'
import { settleMoves } from '../../src/moves/keep.ts'
import * as pauses from '../../src/platform/pause.ts'
import { firstServer } from '../../src/platform/root.ts'
import { getMove } from '../../src/runtime/move-store.ts'
import { services } from '../../src/services/observe.ts'
import { second, twoServers } from './scene.ts'

const signal = new AbortController().signal

type Kind = 'service' | 'environment'

const kinds: Kind[] = ['service', 'environment']

/** A move whose volumes are just being copied, to the second server or back from there. */
async function inTheCopy(kind: Kind, { isBack = false } = {}) {
  const s = await twoServers({ kind })
  if (isBack) {
    await s.ada.post(s.path, { server: 'server2' })
    await s.ada.delete(s.path)
    await s.t.jobs.idle()
  }
  const [from, to] = isBack ? [second, firstServer] : [firstServer, second]
  const target = isBack ? s.own : s.other
  const reached = Promise.withResolvers<void>()
  const goOn = Promise.withResolvers<void>()
  target.before = async (_, signal) => {
    reached.resolve()
    const aborted = new Promise((_, reject) =>
      signal.addEventListener('abort', () => reject(signal.reason)),
    )
    await Promise.race([goOn.promise, aborted])
  }
  const asked = s.ada.post(s.path, { server: to })
  await reached.promise
  expect(s.state()).toMatchObject({ up: [0, 0], live: [from], leftOn: to })
  const stays = {
    ...{ up: isBack ? [0, 2] : [2, 0], live: [from], pinned: from, leftOn: null },
    volumes: isBack ? [[], s.all] : [s.all, []],
  }
  /** The next things that carriers do are done. */
  const isFree = () => (target.before = async () => {})
  return { ...s, asked, goOn, stays, isFree }
}

test.each(kinds)('a copy that isn’t the same is never run: the %s runs as before', async (kind) => {
  const s = await twoServers({ kind })
  s.other.stored = (content) => content.slice(1)
  const { json } = await s.ada.post(s.path, { server: 'server2' })
  await s.t.jobs.idle()
  expect(json).toMatchObject({ status: 'failed', outageMs: null })
  expect(s.state()).toMatchObject({ up: [2, 0], volumes: [s.all, []], leftOn: null })
  expect(s.other.engine.containers.size).toBe(0)
  s.other.stored = (content) => content
  expect((await s.ada.post(s.path, { server: 'server2' })).json.status).toBe('succeeded')
})

test.each(kinds)('a %s whose move is cancelled in the copy runs as before', async (kind) => {
  const s = await inTheCopy(kind)
  const cancelled = await s.ada.post(
    kind === 'service'
      ? `/services/${s.subject.id}/cancel`
      : `/projects/${s.subject.projectId}/deployments/${getMove(s.t.db, s.subject.id)!.id}/cancel`,
  )
  expect(cancelled.status).toBe(200)
  await s.asked
  await s.t.jobs.idle()
  expect(getMove(s.t.db, s.subject.id)).toMatchObject({ status: 'cancelled' })
  expect(s.state()).toEqual(s.stays)
})

test.each(kinds)('a %s whose new server ends in the copy runs as before', async (kind) => {
  const s = await inTheCopy(kind)
  const { observe } = kind === 'service' ? services : apps
  s.t.engines.setAway({ serverId: second }, true)
  s.goOn.reject(new EngineError(0, 'the connection broke'))
  expect((await s.asked).json.status).toBe('failed')
  await s.t.jobs.idle()
  expect(s.state()).toEqual({ ...s.stays, volumes: [s.all, s.other.volumes], leftOn: second })
  s.t.engines.setAway({ serverId: second }, false)
  // a carrier that ended with its server
  const [volume] = [...s.other.engine.volumes.keys()]
  const there = s.t.engines.of({ serverId: second })
  s.other.engine.addImage({ tags: ['carrier:latest'], command: ['sleep', '1'] })
  await there.createContainer({
    ...{ name: 'carrier', image: 'carrier:latest', memoryBytes: 2 ** 24, cpus: 1, network: 'none' },
    labels: {
      ...labelsFor({ instanceId: s.t.instanceId, kind: 'backup', ownerId: '' }),
      [processLabel]: thisProcess,
    },
    volumes: [{ name: volume!, path: '/volumes' }],
  } as never)
  const carrier = [...s.other.engine.containers.values()].at(-1)!
  carrier.state = 'exited'
  // as when its events are followed again
  await observe(s.t.deps, s.subject.id, { orphans: true, signal })
  await settleMoves(s.t.deps, { signal })
  expect(s.state()).toEqual(s.stays)
})

test('a service whose old server ends in the copy runs once that is back', async () => {
  const s = await inTheCopy('service', { isBack: true })
  s.isFree()
  s.t.engines.setAway({ serverId: second }, true)
  const { sleepUpTo } = pauses // what needs it is tried again and again, a second apart
  using _ = spyOn(pauses, 'sleepUpTo').mockImplementation((_, signal) => sleepUpTo(1, signal))
  s.goOn.reject(new EngineError(0, 'the connection broke'))
  await s.asked
  await s.t.jobs.idle()
  expect(getMove(s.t.db, s.subject.id)).toMatchObject({ status: 'failed', isDown: true })
  await settleMoves(s.t.deps, { signal })
  expect(s.state()).toMatchObject({ up: [0, 0], pinned: second })
  s.t.engines.setAway({ serverId: second }, false)
  await settleMoves(s.t.deps, { signal })
  await s.t.jobs.idle()
  await settleMoves(s.t.deps, { signal })
  expect(getMove(s.t.db, s.subject.id)!.isDown).toBe(false)
  expect(s.state()).toEqual(s.stays)
})

test('a copy that isn’t whole is removed also when the old server is given up', async () => {
  const s = await inTheCopy('service')
  s.t.engines.setAway({ serverId: second }, true)
  s.goOn.reject(new EngineError(0, 'the connection broke'))
  await s.asked
  await s.t.jobs.idle()
  s.t.engines.setAway({ serverId: second }, false)
  await services.observe(s.t.deps, s.subject.id, { orphans: true, signal })
  giveUpServer(s.t.deps, firstServer)
  await settleMoves(s.t.deps, { signal })
  expect(s.state()).toMatchObject({ pinned: null, volumes: [s.all, []], leftOn: null })
})

test('while it moves, nothing else changes it', async () => {
  const s = await inTheCopy('service')
  const { ada, path, subject } = s
  expect((await ada.post(path, { server: 'server2' })).status).toBe(409)
  expect((await ada.delete(path)).status).toBe(409)
  for (const verb of ['restart', 'stop'])
    expect((await ada.post(`/services/${subject.id}/${verb}`)).status).toBe(409)
  s.goOn.resolve()
  expect((await s.asked).json.status).toBe('succeeded')
})

test('a service that is deleted in its move leaves nothing', async () => {
  const s = await inTheCopy('service')
  const { ada, subject, own, other } = s
  const deleted = await ada.delete(`/services/${subject.id}`, { confirm: 'thing', volumes: true })
  expect(deleted.status).toBe(200)
  await s.asked
  await s.t.jobs.idle()
  for (const { engine } of [own, other])
    expect([engine.containers.size, engine.volumes.size]).toEqual([0, 0])
})

test('a deployment in the move of an environment waits for its end, and runs on the new server', async () => {
  const s = await inTheCopy('environment')
  const queued = await s.ada.post(`/projects/${s.subject.projectId}/deployments`)
  expect(queued.status).toBe(201)
  s.goOn.resolve()
  expect((await s.asked).json.status).toBe('succeeded')
  await s.t.jobs.idle()
  expect(s.state()).toMatchObject({ up: [0, 2], live: [second], volumes: [s.all, s.all] })
})
