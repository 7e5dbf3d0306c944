import { expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { PassThrough } from 'node:stream'
import { aTarget } from '../backups/a-target.ts'
import { away, SimulatedRestic, unreachable } from '../backups/simulated-restic.ts'
import { withVolume } from '../backups/scene.ts'
import { backups, jobs } from '../../src/db/schema.ts'
import { made } from '../services/instances.ts'
import { withServer } from './laptop.ts'

test('backups are made, listed, proven, restored and downloaded by command', async () => {
  const restic = new SimulatedRestic()
  const { t, ada, davit, folder, address } = await withServer({ openRestic: restic.open })
  await made(t, ada, withVolume, { name: 'shop-db' })
  aTarget(t, ada.user.id)
  expect((await davit(['backups'])).status).toBe(0)
  const unknown = await davit(['backups', 'create', 'other'])
  expect([unknown.status, unknown.stderr]).toEqual([1, expect.stringContaining('shop-db')])

  const created = await davit(['backups', 'create', 'shop-db'])
  expect([created.status, created.stderr]).toEqual([0, expect.stringContaining('Stored')])
  const id = created.stdout.trim()
  const listed = JSON.parse((await davit(['backups', 'list', '--json'])).stdout)
  expect(listed.items).toMatchObject([{ id, status: 'succeeded' }])
  expect((await davit(['backups', 'prove', id])).status).toBe(0)
  restic.faults.measureVolumes = unreachable
  expect((await davit(['backups', 'prove', id])).status).toBe(1)

  expect((await davit(['backups', 'restore', id])).status).toBe(2) // it asks first
  const restored = await davit(['backups', 'restore', id, '--new', '--name', 'old-db', '--json'])
  const lines = restored.stdout.trim().split('\n')
  expect(restored.status).toBe(0)
  expect(JSON.parse(lines.at(-1)!).restore).toMatchObject({ into: { name: 'old-db' } })
  expect(lines.length).toBeGreaterThan(1)
  restic.faults.readVolumes = unreachable
  const failed = await davit(['backups', 'restore', id, '--yes', '--no-backup'])
  expect([failed.status, failed.stderr]).toEqual([1, expect.stringContaining('incomplete')])
  delete restic.faults.readVolumes

  const named = await davit(['backups', 'restore', id, '--yes', '--no-backup', '--server', address])
  expect(named.status).toBe(0)
  const placed = ['backups', 'restore', id, '--new', '--on', 'box2', '--server', address]
  expect(await davit(placed)).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('server must'),
  })

  const output = `${folder}/volumes.tar`
  const got = await davit(['backups', 'download', id, '--output', output])
  expect([got.status, Bun.file(output).size]).toEqual([0, 1000])
  expect((await davit(['backups', 'cancel', id])).status).toBe(1)
  expect((await davit(['backups', 'sell'])).status).toBe(2)
})

test('an option that would be ignored is refused, so that nothing else than meant is restored over', async () => {
  const restic = new SimulatedRestic()
  const { t, ada, davit } = await withServer({ openRestic: restic.open })
  await made(t, ada, withVolume, { name: 'shop-db' })
  aTarget(t, ada.user.id)
  const id = (await davit(['backups', 'create', 'shop-db'])).stdout.trim()
  const queued = () => t.db.select().from(jobs).all()
  const backup = () => JSON.stringify(t.db.select().from(backups).all())
  const before = backup()
  for (const args of [
    ['restore', id, '--yes', '--env', 'production'],
    ['restore', id, '--yes', '--project', 'site'],
    ['prove', id, '--database', 'shop'],
    ['create', 'shop-db', '--env', 'production'],
    ['list', '--project', 'site'],
    ['cancel', id, '--yes'],
  ])
    expect([args, (await davit(['backups', ...args])).status]).toEqual([args, 2])
  expect(queued()).toEqual([])
  expect(backup()).toBe(before)
  expect((await davit(['backups', 'create', '--env', 'staging'])).stderr).toContain('staging')
})

test('a download replaces no file, and leaves none that is not whole', async () => {
  const restic = new SimulatedRestic()
  const { t, ada, davit, folder, start } = await withServer({ openRestic: restic.open })
  await made(t, ada, withVolume, { name: 'shop-db' })
  aTarget(t, ada.user.id)
  const id = (await davit(['backups', 'create', 'shop-db'])).stdout.trim()
  const output = `${folder}/volumes.tar`
  const download = ['backups', 'download', id, '--output', output]
  restic.faults.read = async ({ to, signal }) => {
    const half = new PassThrough()
    half.write('half')
    setImmediate(() => half.destroy(away()))
    await to(half, signal)
  }
  expect((await davit(download)).status).toBe(1)
  expect(existsSync(output)).toBe(false)

  const began = Promise.withResolvers<void>()
  restic.faults.read = async ({ to, signal }) => {
    const endless = new PassThrough()
    endless.write('half')
    began.resolve()
    await to(endless, signal)
  }
  const child = Bun.spawn({ ...start(download), stdout: 'ignore', stderr: 'pipe' })
  await began.promise
  child.kill('SIGINT')
  expect([await child.exited, await child.stderr.text()]).toEqual([130, ''])
  expect(existsSync(output)).toBe(false)

  let reads = 0
  restic.faults.read = (options) => {
    reads++
    return restic.usual.read(options)
  }
  expect([(await davit(download)).status, Bun.file(output).size]).toEqual([0, 1000])
  expect([(await davit(download)).status, Bun.file(output).size]).toEqual([2, 1000])
  expect(reads).toBe(1)
})
