import { expect, onTestFinished, test } from 'bun:test'
import { diskOverview } from '../../src/containers/clean-up/json.ts'
import { runIfDue } from '../../src/containers/clean-up/schedule.ts'
import { getSchedule, saveSchedule } from '../../src/containers/clean-up/schedule-store.ts'
import { Failure } from '../../src/platform/errors.ts'
import type { DiskSpace } from '../../src/platform/disk-space.ts'
import { firstServer } from '../../src/platform/root.ts'
import { serverId } from '../support/servers.ts'
import { until } from '../support/until.ts'
import { aFleet } from './fleet.ts'

const old = 'davit/site:old'

/** Three servers, each with an image of Davit’s that nothing needs. */
async function three(spaces: DiskSpace[] = []) {
  const f = aFleet({ servers: 3, apps: 1, replicas: 3 })
  const labels = { 'davit.instance': f.deps.instanceId, 'davit.kind': 'build' }
  for (const engine of f.engines) engine.addImage({ tags: [old], labels, command: ['sleep', '99'] })
  for (const [at, space] of spaces.entries()) f.engines[at + 1]!.space = space
  const stop = new AbortController()
  const background = f.begin(stop.signal)
  onTestFinished(async () => {
    stop.abort()
    await Promise.allSettled(background)
  })
  await until(() => f.engines.every((one) => !f.deps.engines.isAway(one)))
  await until(() => f.deps.serverEngines.disks.size >= spaces.length)
  const left = () => f.engines.map((engine) => engine.image(old) !== undefined)
  const images = (body: object = {}) =>
    f.root.post('/settings/prune', { what: ['images'], ...body })
  return { ...f, left, images }
}

const skipped = (id: string) => ({ serverId: id, reason: 'its server wasn’t cleaned up' })

test('what nothing needs is found on each server, and removed there', async () => {
  const f = await three()
  const { json } = await f.images({ dryRun: true })
  const found = json.candidates.filter(({ name }: { name: string }) => name === old)
  expect(found.map((one: { serverId: string }) => one.serverId)).toEqual([1, 2, 3].map(serverId))
  expect(new Set(found.map(({ item }: { item: string }) => item)).size).toBe(3)
  const one = await f.images({ items: [found[1].item] })
  expect(one.json.removed).toMatchObject([{ name: old, serverId: serverId(2) }])
  expect(f.left()).toEqual([true, false, true])
  expect((await f.images({ server: serverId(3) })).json.removed).toHaveLength(1)
  expect(f.left()).toEqual([true, false, false])
  expect((await f.images({ server: firstServer })).json.removed).toHaveLength(1)
  expect(f.left()).toEqual([false, false, false])
  const elsewhere = [found[0].item, found[0].item.replace(/(@.*)?$/, `@${serverId(9)}`)]
  const none = await f.images({ items: elsewhere, server: serverId(3) })
  expect(none.json).toMatchObject({ removed: [], skipped: [firstServer, serverId(9)].map(skipped) })
  const { status, json: refused } = await f.images({ server: serverId(9) })
  expect([status, refused.errors[0].field]).toEqual([422, 'server'])
})

test('an image that a container elsewhere runs from stays on every server', async () => {
  const f = await three()
  f.db.$client.run(`UPDATE deployments SET image = ? WHERE status = 'running'`, [old])
  expect((await f.images()).json.removed).toEqual([])
  expect(f.left()).toEqual([true, true, true])
})

test('a server that goes away is named, and holds up no other', async () => {
  const f = await three()
  await f.deps.docker.removeImage(old) // with which its copies would go
  const second = f.deps.engines.of({ serverId: serverId(2) })
  second.diskUse = () =>
    Promise.reject(new Failure('engine_unreachable', 'It has no power.', 'Wait.'))
  const { json } = await f.images()
  expect(json.away).toEqual(['server2'])
  expect(f.left()).toEqual([false, true, false])
})

test('the daily clean-up leaves out servers whose disk has room', async () => {
  const disk = { folder: '/d', size: 100, free: 90 }
  const f = await three([
    { ...disk, used: 10 },
    { ...disk, used: 90 },
  ])
  await f.deps.docker.removeImage(old) // with which its copies would go
  saveSchedule(f.db, { enabled: true, what: ['images'], hour: 0, threshold: 50 })
  const now = new Date(Date.now() + 60_000)
  expect(await runIfDue(f.deps, now)).toBe(true)
  expect(f.left().slice(1)).toEqual([true, false])
  expect(getSchedule(f.db).lastRunAt).toEqual(now)
})

test('the page has a line for each server, and a choice', async () => {
  const f = await three([{ folder: '/d', size: 2 ** 30, free: 2 ** 29, used: 50 }])
  await until(async () => {
    const { json } = await f.root.get('/settings/prune')
    diskOverview().strict().parse(json)
    return json.servers.every(({ use }: { use: object | null }) => use !== null)
  })
  const { text } = await f.root.page('/settings/prune')
  expect(text).toContain('512 MiB of 1.0 GiB free')
  expect(text).toContain('free space unknown')
  expect(text.match(/<option/g)!.length).toBeGreaterThan(3)
  const preview = await f.root.htmx('POST', '/settings/prune', {
    what: 'images',
    dry_run: '1',
    server: '',
  })
  expect(preview.text).toContain('<span class="tag">server3</span>')
})
