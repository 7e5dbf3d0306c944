import { expect, onTestFinished, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { insertUser } from '../../src/accounts/store.ts'
import { makeBackup } from '../../src/backup/make.ts'
import { restoreBackup } from '../../src/backup/restore.ts'
import { fillServer } from '../../src/backups/server/fill-server.ts'
import {
  noteFilling,
  removeHalfFilled,
  removeMarks,
  restoringId,
} from '../../src/backups/server/half-filled.ts'
import { placeOf } from '../../src/backups/server/place.ts'
import type { ResticDeps } from '../../src/backups/restic/restic.ts'
import { restoreServer } from '../../src/backups/server/restore-server.ts'
import { insertBackup, savePlan } from '../../src/backups/store.ts'
import { davitId } from '../../src/backups/subject.ts'
import type { OpenTarget } from '../../src/backups/targets/store.ts'
import { parseConfig } from '../../src/config.ts'
import { lockDataDir } from '../../src/db/instance-lock.ts'
import { openDatabase, openLogDatabase } from '../../src/db/index.ts'
import { openInstallation } from '../../src/db/installation.ts'
import { deployments, environments, plannedDeployments, targets } from '../../src/db/schema.ts'
import { labelFilter, labelsFor } from '../../src/docker/labels.ts'
import { insertDeployment } from '../../src/deployments/store.ts'
import { getEnvironmentIn } from '../../src/environments/store.ts'
import { insertProject } from '../../src/projects/store.ts'
import { openSecrets } from '../../src/platform/secrets.ts'
import { resume } from '../../src/serve.ts'
import { sandbox } from '../docker/sandbox.ts'
import { simulatedApp } from '../support/app.ts'
import { until } from '../support/until.ts'

const { docker, labels, name } = sandbox()
const { signal } = new AbortController()

function aFolder() {
  const folder = mkdtempSync(join(tmpdir(), 'davit-restore-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** As a restore does it; what marks the volume is removed with the test. */
async function beginFilling(dataDir: string, volume: string) {
  const workload = { id: Bun.randomUUIDv7(), ownerId: 'o', kind: 'service' } as const
  onTestFinished(() => removeMarks({ dataDir, docker }))
  await noteFilling({ dataDir, docker }, { workload, name: volume, signal })
  await docker.createVolume({ name: volume, labels })
}

const listVolumes = async (labels: string[] = []) =>
  (await docker.listVolumes({ labels })).map(({ name }) => name)

test('what a killed restore filled is removed by the next, though its data directory was removed before', async () => {
  const dataDir = aFolder()
  const [half, whole] = [name(), name()]
  await docker.createVolume({ name: whole, labels })
  await beginFilling(dataDir, half)
  rmSync(dataDir, { recursive: true })
  await removeHalfFilled({ dataDir: aFolder(), docker }) // of another one
  expect(await listVolumes()).toContain(half)
  mkdirSync(dataDir)
  await removeHalfFilled({ dataDir, docker })
  const left = await listVolumes()
  expect([half, whole].map((volume) => left.includes(volume))).toEqual([false, true])
  expect(await listVolumes(labelFilter(restoringId(dataDir)))).toEqual([])
})

test('what a container uses isn’t removed as half filled, and nothing is once Davit has started', async () => {
  const t = simulatedApp()
  const marksOf = (dataDir: string) =>
    t.docker.listVolumes({ labels: labelFilter(restoringId(dataDir)) })
  const volumes = [{ name: 'used', path: '/data' }]
  const workload = { id: Bun.randomUUIDv7(), ownerId: 'o', kind: 'service' } as const
  const others = { dataDir: aFolder(), docker: t.docker }
  for (const { dataDir } of [t.config, others])
    await noteFilling({ dataDir, docker: t.docker }, { workload, name: 'used', signal })
  const { instanceId } = t
  const labelled = labelsFor({ instanceId, kind: 'service', ownerId: 'o', serviceId: workload.id })
  await t.docker.createVolume({ name: 'used', labels: labelled })
  t.engine.addImage({ tags: ['busybox'], command: ['true'] })
  const limits = { memoryBytes: 32 * 2 ** 20, cpus: 1, pidsLimit: 64 }
  const of = { name: 'user', image: 'busybox', labels: {}, network: 'bridge', volumes }
  const user = await t.docker.createContainer({ ...of, ...limits })
  expect(await removeHalfFilled(others)).toEqual(['used'])
  expect(await marksOf(others.dataDir)).toEqual([])

  await t.docker.removeContainer(user, { force: true })
  rmSync(join(t.dataDir, 'restoring-volumes')) // as when its data was removed, and restored from a file
  await removeMarks({ dataDir: t.dataDir, docker: t.docker }, Bun.randomUUIDv7())
  expect(await marksOf(t.dataDir)).toHaveLength(1) // a new Davit there says nothing
  const stop = new AbortController()
  const background = resume(t.deps, { signal: stop.signal })
  await until(async () => (await marksOf(t.dataDir)).length === 0)
  stop.abort()
  await Promise.allSettled(background)
  await removeHalfFilled({ dataDir: t.dataDir, docker: t.docker })
  expect((await t.docker.listVolumes()).map(({ name }) => name)).toEqual(['used'])
})

test('the second of two restores at once says so and ends: what the first one fills stays', async () => {
  const dataDir = aFolder()
  const config = parseConfig({ DAVIT_DATA_DIR: dataDir })
  const first = lockDataDir(dataDir)
  const volume = name()
  await beginFilling(dataDir, volume)
  const said: string[] = []
  const second = restoreServer({
    ...{ config, place: placeOf(config, dataDir, {}), password: 'x', until: new Date() },
    ...{ without: [], isDry: false, signal },
    say: (line) => said.push(line),
  })
  await expect(second).rejects.toMatchObject({ code: 'data_dir_in_use' })
  expect(await listVolumes()).toContain(volume)
  expect(readFileSync(join(dataDir, 'restoring-volumes'), 'utf8')).toBe(`${volume}\n`)
  expect([said, existsSync(join(dataDir, 'davit.lock'))]).toEqual([[], true])
  first.close()
})

test('a deployment whose time came after the backup, or that waited for checks, doesn’t run again', async () => {
  const folder = aFolder()
  const from = { dataDir: join(folder, 'from'), secretKey: null }
  const to = { dataDir: join(folder, 'to'), secretKey: null }
  const file = join(folder, 'file')
  mkdirSync(from.dataDir)
  const secrets = openSecrets(from)
  const db = openDatabase(join(from.dataDir, 'davit.db'))
  openInstallation(db, secrets)
  const ada = insertUser(db, {
    email: 'a@example.com',
    name: null,
    passwordHash: '',
    role: 'admin',
  })
  const hours = (count: number) => new Date(Date.now() + count * 3_600_000)
  const names = ['due', 'later', 'checked'] as const
  const [due, later, checked] = names.map((name, at) => {
    const values = {
      ownerId: ada.id,
      name,
      repositoryUrl: 'x',
      webhookSecret: 'x',
    }
    const { id } = insertProject(db, values, { hostPort: 20_000 + at })
    const [first] = db.select().from(environments).where(eq(environments.projectId, id)).all()
    return first!.id
  })
  for (const [environmentId, at] of [
    [due!, hours(-1)],
    [later!, hours(1)],
  ] as const) {
    const planned = { environmentId, at, version: {}, plannedBy: ada.email }
    db.insert(plannedDeployments)
      .values({ ...planned, trigger: 'manual' })
      .run()
  }
  const of = (environmentId: string) => ({
    ...{ environmentId, projectId: getEnvironmentIn(db, environmentId)!.environment.projectId },
    ...{ status: 'waiting' as const, trigger: 'webhook' as const },
    ...{ triggeredBy: ada.email, repositoryUrl: 'x' },
  })
  for (const [environmentId, until] of [
    [due!, hours(-1)],
    [later!, hours(1)],
  ] as const) {
    const freeze = { reason: 'the fair', until: until.toISOString(), note: null }
    insertDeployment(db, { ...of(environmentId), freeze })
  }
  insertDeployment(db, { ...of(checked!), waitUntil: hours(1) })
  openLogDatabase(join(from.dataDir, 'logs.db')).$client.close()
  await makeBackup({
    ...{ config: from, file, passphrase: null, withLogs: true, force: false, settings: {} },
  })
  db.$client.close()
  await restoreBackup({ config: to, file, passphrase: null })
  const restored = openDatabase(join(to.dataDir, 'davit.db'))
  const planned = restored.select().from(plannedDeployments).all()
  const held = restored.select().from(deployments).all()
  restored.$client.close()
  const problems = new Map(planned.map(({ environmentId, problem }) => [environmentId, problem]))
  expect([problems.get(due!), problems.get(later!)]).toEqual([expect.any(String), null])
  const statuses = new Map(held.map(({ environmentId, status }) => [environmentId, status]))
  const found = [due, later, checked].map((id) => statuses.get(id!))
  expect(found).toEqual(['failed', 'waiting', 'failed'])
})

test('a name to leave out that nothing has is refused with those that there are', async () => {
  const db = openDatabase(':memory:')
  onTestFinished(() => db.$client.close())
  const { id: ownerId } = insertUser(db, { email: 'a@example.com', role: 'admin' })
  const values = { ownerId, name: 'shop', repositoryUrl: 'x', webhookSecret: 'x' }
  insertProject(db, values, { hostPort: 20_000 })
  const [named, other] = ['named', 'other'].map((name) =>
    db
      .insert(targets)
      .values({ ownerId, name, kind: 'directory', password: 'x' })
      .returning()
      .get(),
  )
  const subject = {
    subjectKind: 'davit',
    subjectId: davitId,
    subjectName: 'Davit',
    hold: 'none',
  } as const
  const backup = insertBackup(db, { ...subject, ownerId, targetId: named!.id, startedBy: 'a plan' })
  savePlan(
    db,
    { kind: 'davit', id: davitId },
    { ownerId, targetId: other!.id, schedule: '0 3 * * *' },
  )
  const repository = (id: string) => ({ backup: id, place: {} as OpenTarget, stored: [] })
  const filling = {
    ...{
      installation: Bun.randomUUIDv7(),
      until: new Date(),
      halfFilled: new Set<string>(),
      isDry: true,
      signal,
    },
    ...{ repository: repository(backup.id), say: (line: string) => said.push(line) },
  }
  const said: string[] = []
  const leaving = (without: string[], more = {}) =>
    fillServer({ db, docker } as ResticDeps, { ...filling, without, ...more })
  for (const wrong of ['shop', 'named'])
    await expect(leaving(['other', wrong])).rejects.toMatchObject({
      ...{ code: 'restore_without', message: expect.stringContaining(`“${wrong}”`) },
      hint: expect.stringContaining('other, shop production'),
    })
  expect(said).toEqual([])
  await leaving(['other', 'shop production'], { repository: repository('') })
  expect(said).toHaveLength(1)
})
