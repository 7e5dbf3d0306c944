import { describe, expect, test } from 'bun:test'
import { deleteEnvironment, updateEnvironment } from '../../src/environments/store.ts'
import { until } from '../support/until.ts'
import { day, hash, setUp } from './pulls.ts'

describe('a preview is deleted', () => {
  test('when the pull request is closed, also while previews are off', async () => {
    const s = await setUp()
    await s.tell()
    await s.change({ enabled: false })
    const { status, json } = await s.tell({ action: 'closed' })
    expect([status, json.deployments]).toEqual([200, []])
    expect(await s.find()).toMatchObject({ deleting: true })
    expect(s.reasons().at(-1)).toEqual(['accepted', 'pr-7 is being deleted.'])
    s.keep()
    await s.gone()
    expect(await s.environments()).toMatchObject([{ id: s.base.id, deleting: false }])
  })

  test('days after the last push, if nothing says that it was closed', async () => {
    const s = await setUp({ idleDays: 1 })
    await s.tell()
    s.keep()
    await s.clock.pass(day - 1000)
    expect(await s.find()).toMatchObject({ deleting: false })
    await s.clock.pass(1000)
    await s.gone()
  })

  test('by hand like any other, and it is never the last environment', async () => {
    const s = await setUp()
    await s.tell()
    const made = await s.find()
    expect((await s.ada.delete(`${s.path}/envs/${s.base.id}`)).status).toBe(409)
    expect((await s.ada.delete(`${s.path}/envs/${made.id}`)).status).toBe(200)
    expect(await s.find()).toBeUndefined()
  })

  test('with its volumes, and with nothing of the others', async () => {
    const s = await setUp()
    await s.ada.put(`${s.path}/envs/${s.base.id}`, { volumes: ['data:/data'] })
    await s.tell()
    const made = await s.find()
    for (const { id } of [s.base, made])
      await s.t.docker.createVolume({
        name: `davit-${id}-data`,
        labels: s.labels({ environmentId: id }),
      })
    await s.tell({ action: 'closed' })
    s.keep()
    await s.gone()
    const left = await s.t.docker.listVolumes({ labels: [] })
    expect(left.map(({ name }) => name)).toEqual([`davit-${s.base.id}-data`])
  })

  test('with its volumes also when its project is, which keeps those of the others', async () => {
    const s = await setUp()
    await s.tell()
    const made = await s.find()
    for (const { id } of [s.base, made])
      await s.t.docker.createVolume({
        name: `davit-${id}-data`,
        labels: s.labels({ environmentId: id }),
      })
    expect((await s.ada.page(`${s.path}/delete`)).text).toContain('those of previews')
    expect((await s.ada.delete(s.path)).status).toBe(200)
    const left = await s.t.docker.listVolumes({ labels: [] })
    expect(left.map(({ name }) => name)).toEqual([`davit-${s.base.id}-data`])
  })

  test('again a minute after that failed, unless it was deleted by hand meanwhile', async () => {
    const s = await setUp()
    await s.tell()
    const { id } = await s.find()
    await s.tell({ action: 'closed' })
    const { next, run } = s.keeper()
    const { $client } = s.t.db
    $client.run(
      "CREATE TRIGGER broken BEFORE DELETE ON environments BEGIN SELECT RAISE(ABORT, 'broken'); END",
    )
    const now = s.clock.now()
    expect(next(now)).toBe(now)
    await run(now)
    expect(next(now)).toBe(now + 60_000)
    $client.run('DROP TRIGGER broken')
    expect((await s.ada.delete(`${s.path}/envs/${id}`)).status).toBe(200)
    await run(now + 60_000)
    expect(next(now + 60_000)).toBeNull()
  })

  test('before those whose deletion failed, which takes long where a server is away', async () => {
    const s = await setUp()
    for (const number of [7, 8, 9]) await s.tell({ number, ref: `of-${number}` })
    const nine = await s.find('pr-9')
    for (const number of [7, 8]) await s.tell({ number, action: 'closed' })
    const { next, run } = s.keeper()
    const { now } = s.clock
    let tries = 0
    s.t.faults.listContainers = async (...args) => {
      if (JSON.stringify(args).includes(nine.id)) return s.t.docker.listContainers(...args)
      if (++tries === 3) await s.tell({ number: 9, action: 'closed' })
      s.clock.set(new Date(now() + 30_000).toISOString())
      throw new Error('broken')
    }
    await run(now())
    const again = now() + 60_000
    await run(now())
    expect([tries, next(now())]).toEqual([2, again])
    await run(again)
    await run(now())
    expect([tries, await s.find('pr-9')]).toEqual([3, undefined])
  })

  test('and comes back when it is reopened, also while it is still being deleted', async () => {
    const s = await setUp()
    const isBack = () =>
      until(async () => {
        await s.clock.pass(0)
        return (await s.find())?.deleting === false
      }, 20)
    await s.tell()
    await s.tell({ action: 'closed' })
    expect((await s.tell({ action: 'reopened' })).json.deployments).toEqual([])
    await s.tell({ action: 'synchronize', head: hash(2) })
    const [, , ...waiting] = s.reasons().map(([decision]) => decision)
    expect(waiting).toEqual(['accepted', 'accepted'])
    s.keep()
    await isBack()
    expect(s.commits()).toEqual([hash(2)])
    expect(s.reasons().at(-1)).toEqual(['deployed', 'Deployed to pr-7.'])
    await s.tell({ action: 'closed' })
    await s.gone()
    await s.tell({ action: 'reopened', head: hash(3) })
    expect((await s.find()).preview).toMatchObject({ commit: hash(3) })
  })

  test('and stays away when it is closed again, or what came was before', async () => {
    const s = await setUp({ idleDays: 1 })
    await s.tell()
    await s.tell({ action: 'closed' })
    await s.tell({ action: 'reopened' })
    await s.tell({ action: 'closed' })
    s.keep()
    await s.gone()
    expect(s.reasons().map(([decision]) => decision)).toEqual([
      ...['deployed', 'accepted', 'ignored', 'accepted'],
    ])
    await s.tell({ action: 'reopened' })
    await s.clock.pass(day)
    await s.gone()
    await s.clock.pass(day)
    expect(await s.find()).toBeUndefined()
  })

  test.each([
    ['deployed', hash(2)],
    ['found its commit deployed', hash(1)],
  ])('but not by a close that is older than a reopening that %s', async (_, head) => {
    const s = await setUp()
    await s.tell({ updatedAt: '2026-01-01T10:00:00Z' })
    await s.tell({ action: 'reopened', head, updatedAt: '2026-01-01T10:02:00Z' })
    await s.tell({ action: 'closed', updatedAt: '2026-01-01T10:01:00Z' })
    expect(s.reasons().at(-1)![0]).toBe('ignored')
    expect(await s.find()).toMatchObject({ deleting: false })
  })

  test('and comes back in the next process, if the last one ended between', async () => {
    const s = await setUp()
    await s.tell()
    await s.tell({ action: 'closed' })
    await s.tell({ action: 'reopened', head: hash(2) })
    const { id } = await s.find()
    deleteEnvironment(s.t.db, id)
    s.keep()
    await until(async () => {
      await s.clock.pass(0)
      return (await s.find())?.preview?.commit === hash(2)
    }, 20)
  })

  test('and comes back also if it was deleted by hand while another one was', async () => {
    const s = await setUp()
    await s.tell()
    await s.tell({ number: 8, ref: 'other' })
    const { id } = await s.find()
    await s.tell({ action: 'closed', number: 8, ref: 'other' })
    const { next, run } = s.keeper()
    s.t.faults.listContainers = async (...args) => {
      delete s.t.faults.listContainers
      updateEnvironment(s.t.db, id, { deletingAt: new Date() })
      await s.tell({ action: 'synchronize', head: hash(2) })
      deleteEnvironment(s.t.db, id)
      return s.t.docker.listContainers(...args)
    }
    const now = s.clock.now()
    while (next(now) === now) await run(now)
    expect(await s.find('pr-8')).toBeUndefined()
    expect((await s.find()).preview).toMatchObject({ commit: hash(2) })
  })

  test('however many other deliveries came between its events', async () => {
    const s = await setUp()
    await s.tell({ updatedAt: '2026-01-01T10:02:00Z' })
    for (const action of ['opened', 'closed', 'reopened']) await s.tell({ action, number: 8 })
    for (let more = 0; more < 101; more++) await s.push({ ref: `refs/heads/of-${more}` })
    await s.tell({ action: 'closed', updatedAt: '2026-01-01T10:01:00Z' })
    deleteEnvironment(s.t.db, (await s.find('pr-8')).id)
    await s.keeper().run(s.clock.now())
    expect(await s.find('pr-7')).toMatchObject({ deleting: false }) // the close came late
    expect(await s.find('pr-8')).toMatchObject({ deleting: false }) // it was reopened
  })

  test('and comes back at the next try, if that failed or was interrupted', async () => {
    const s = await setUp()
    await s.tell()
    await s.tell({ action: 'closed' })
    await s.tell({ action: 'reopened', head: hash(2) })
    deleteEnvironment(s.t.db, (await s.find()).id)
    const { next, run } = s.keeper()
    s.t.db.$client.run(
      "CREATE TRIGGER broken BEFORE INSERT ON jobs BEGIN SELECT RAISE(ABORT, 'killed'); END",
    )
    const now = s.clock.now()
    await run(now)
    expect([await s.find(), next(now)]).toEqual([undefined, now + 60_000])
    s.t.db.$client.run('DROP TRIGGER broken')
    await run(now + 60_000)
    expect((await s.find()).preview).toMatchObject({ commit: hash(2) })
    expect(s.reasons().at(-1)![0]).toBe('deployed')
  })

  test('and an event that waited is applied once, if it was replayed before', async () => {
    const s = await setUp()
    await s.tell()
    await s.tell({ action: 'closed' })
    await s.tell({ action: 'reopened', head: hash(2) })
    deleteEnvironment(s.t.db, (await s.find()).id)
    const [waiting] = (await s.ada.get(`${s.path}/deliveries`)).json.items
    const { status } = await s.ada.post(`${s.path}/deliveries/${waiting.id}/replay`)
    await s.keeper().run(s.clock.now())
    expect([status, s.reasons().at(-1)![0], s.commits()]).toEqual([201, 'deployed', [hash(2)]])
  })

  test('and an event that waited is dropped when a newer one made it again', async () => {
    const s = await setUp()
    await s.tell({ updatedAt: '2026-01-01T10:00:00Z' })
    await s.tell({ action: 'closed', updatedAt: '2026-01-01T10:01:00Z' })
    await s.tell({ action: 'reopened', head: hash(2), updatedAt: '2026-01-01T10:02:00Z' })
    deleteEnvironment(s.t.db, (await s.find()).id)
    await s.tell({ action: 'synchronize', head: hash(3), updatedAt: '2026-01-01T10:03:00Z' })
    s.keep()
    await until(async () => {
      await s.clock.pass(0)
      return s.reasons()[2]![0] === 'ignored'
    }, 20)
    expect((await s.find()).preview).toMatchObject({ commit: hash(3) })
  })
})
