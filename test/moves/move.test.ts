import { expect, test } from 'bun:test'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { createApp } from '../../src/app.tsx'
import { getJobOf } from '../../src/jobs/store.ts'
import { firstServer } from '../../src/platform/root.ts'
import { updateServer } from '../../src/servers/store.ts'
import { getService } from '../../src/services/store.ts'
import { aTarget } from '../backups/a-target.ts'
import { unreachable } from '../backups/simulated-restic.ts'
import { TestClient } from '../support/client.ts'
import { second, twoServers } from './scene.ts'

test('a service moves with its volume, and back', async () => {
  const s = await twoServers()
  const { ada, path, subject, all, t } = s
  const preview = (await ada.get(path)).json
  expect(preview).toMatchObject({
    ...{ from: firstServer, outageSeconds: null, backupFirst: false, last: null },
    servers: [{ id: second, name: 'server2', refused: null }],
    volumes: [`davit-${subject.id}-data`, `davit-${subject.id}-more`],
  })
  const slots = new Set<unknown>()
  s.own.before = async () => void slots.add(getJobOf(t.db, subject.id)?.slot)
  const moved = await ada.post(path, { server: 'server2' })
  expect([...slots]).toEqual(['move']) // those of services stay free while it is copied
  expect([moved.status, moved.json]).toMatchObject([
    200,
    { from: firstServer, to: second, status: 'succeeded', error: null },
  ])
  expect(moved.json.outageMs).toBeGreaterThanOrEqual(0)
  expect(moved.json.bytes).toBeGreaterThan(0)
  await t.jobs.idle()
  expect(s.state()).toEqual({
    ...{ up: [0, 2], volumes: [all, all] },
    ...{ live: [second], pinned: second, leftOn: firstServer },
  })
  expect(getService(t.db, subject.id)).toMatchObject({ placement: { server: second } })
  expect((await ada.get(path)).json).toMatchObject({
    from: second,
    last: { outageMs: moved.json.outageMs, bytes: moved.json.bytes },
  })

  expect((await ada.post(path, { server: firstServer })).json.status).toBe('succeeded')
  await t.jobs.idle()
  expect(s.state()).toEqual({
    ...{ up: [2, 0], volumes: [all, all] },
    ...{ live: [firstServer], pinned: firstServer, leftOn: second },
  })
  expect(getService(t.db, subject.id)!.placement).toBeNull()
})

test('a move that is slow to begin is accepted, and goes on', async () => {
  const s = await twoServers()
  const { t, ada, own, path } = s
  const requestTimeout = 0.05
  const config = { ...t.config, requestTimeout, acceptTimeout: 1 }
  const hurried = new TestClient(t.deps, createApp({ ...t.deps, config }), ada.user)
  t.engines.all[0].diskUse = () =>
    new Promise((done) => setTimeout(done, requestTimeout * 3000, { volumes: [] }))
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  own.before = () => released
  const { status, json, headers } = await hurried.post(path, { server: 'server2' })
  expect([status, json.status]).toEqual([202, 'running'])
  expect(headers.get('Location')).toBe(path.replace('/move', ''))
  release()
  await t.jobs.idle()
  expect((await ada.get(path)).json.last.status).toBe('succeeded')
})

test('what can’t be moved is refused, and what fails stays where it was', async () => {
  const s = await twoServers()
  const { ada, path, subject, all, t, other } = s
  const stays = {
    ...{ up: [2, 0], volumes: [all, []] },
    ...{ live: [firstServer], pinned: firstServer, leftOn: null },
  }
  for (const [server, status] of [
    ['elsewhere', 422],
    ['server1', 409],
  ] as const) {
    const { status: answered, json } = await ada.post(path, { server })
    expect([answered, json.errors[0].field]).toEqual([status, 'server'])
  }
  updateServer(t.db, second, { isDraining: true })
  expect((await ada.get(path)).json.servers[0].refused).toContain('drained')
  expect((await ada.post(path, { server: 'server2' })).status).toBe(409)
  updateServer(t.db, second, { isDraining: false })

  const disk = { folder: '/', size: 100e9, used: 99, free: 2 ** 30 }
  t.serverEngines.disks.set(second, disk)
  t.engines.all[0].diskUse = (async () => ({
    volumes: [{ name: `davit-${subject.id}-data`, size: 2 ** 30 }],
  })) as never
  expect((await ada.get(path)).json).toMatchObject({
    bytes: 2 ** 30,
    servers: [{ refused: expect.stringContaining('free') }],
  })
  expect((await ada.post(path, { server: 'server2' })).status).toBe(409)
  t.serverEngines.disks.delete(second)

  expect(s.state()).toEqual(stays)

  for (const call of ['runPiped', 'startContainer'] as const) {
    s.fail(call)
    const { json } = await ada.post(path, { server: 'server2' })
    expect([call, json.status, json.outageMs]).toEqual([call, 'failed', null])
    expect(json.error).toContain('no room')
    await t.jobs.idle()
    // once they had to start, something may have been written
    const kept = { ...stays, volumes: [all, all], leftOn: second }
    expect(s.state()).toEqual(call === 'runPiped' ? stays : kept)
    expect((await ada.get(`/services/${subject.id}`)).json.status).toBe('running')
  }
  s.fail(null)
  expect(other.engine.containers.size).toBe(0)
  expect((await ada.post(path, { server: 'server2' })).json.status).toBe('succeeded')
})

test('a service is backed up before it is moved, and from where it is then', async () => {
  const s = await twoServers()
  const { ada, path, subject, all, t, restic } = s
  const targetId = aTarget(t, ada.user.id)
  expect((await ada.get(path)).json.backupFirst).toBe(true)
  restic.faults.storeVolumes = unreachable
  expect((await ada.post(path, { server: 'server2', backupFirst: true })).json.status).toBe(
    'failed',
  )
  expect(s.state()).toMatchObject({ up: [2, 0], live: [firstServer], leftOn: null })
  const sent: string[] = []
  restic.faults.storeVolumes = async ({ from, ...storing }) => {
    const to = new PassThrough()
    const read = text(to)
    await from?.(to, storing.signal)
    to.end()
    sent.push(await read)
    return restic.usual.storeVolumes(storing)
  }
  expect((await ada.post(path, { server: 'server2', backupFirst: true })).json.status).toBe(
    'succeeded',
  )
  await ada.post(`/services/${subject.id}/backups`, { targetId })
  await t.jobs.idle()
  expect(sent).toEqual(['', expect.stringContaining(all[0]!)])
  const { json } = await ada.get(`/services/${subject.id}/backups`)
  expect(json.items[0]).toMatchObject({
    status: 'succeeded',
    files: [{ volumes: ['data', 'more'] }],
  })
})

test('nothing is stopped for a move while a command may write to the volumes', async () => {
  const s = await twoServers({ kind: 'environment' })
  const { ada, path, own, t } = s
  const stops: string[] = []
  const [docker] = t.engines.all
  const stop = docker.stopContainer
  docker.stopContainer = (...of) => (stops.push(of[0]), stop(...of))
  const [one] = own.engine.containers.values()
  own.engine.containers.set('a-command', { ...one!, id: 'a-command', name: 'a-command' })
  const { json } = await ada.post(path, { server: 'server2' })
  expect([json.status, json.error]).toEqual(['failed', expect.stringContaining('a-command')])
  expect(stops.filter((id) => id !== 'a-command')).toEqual([])
  own.engine.containers.delete('a-command')
  await t.jobs.idle()
  expect(s.state()).toMatchObject({ up: [2, 0], volumes: [s.all, []], leftOn: null })

  t.db.$client.run("UPDATE projects SET compose_file = 'compose.yaml'")
  const refused = await ada.post(path, { server: 'server2' })
  expect([refused.status, refused.json.errors[0].field]).toEqual([409, 'server'])
})
