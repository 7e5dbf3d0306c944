import { expect, onTestFinished, test } from 'bun:test'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { eq } from 'drizzle-orm'
import { extract } from '../../src/backup/read.ts'
import { timed } from '../../src/backups/start.ts'
import { getPlan, setPlan } from '../../src/backups/store.ts'
import { davitId } from '../../src/backups/subject.ts'
import { openDatabase, openLogDatabase } from '../../src/db/index.ts'
import { users } from '../../src/db/schema.ts'
import { startDue } from '../../src/jobs/due.ts'
import { made } from '../services/instances.ts'
import { simulatedApp } from '../support/app.ts'
import type { TestApp } from '../support/app.ts'
import type { Answer, TestClient } from '../support/client.ts'
import { aTarget } from './a-target.ts'
import { withVolume } from './scene.ts'
import { SimulatedRestic } from './simulated-restic.ts'

test('Davit’s own data is stored by an admin’s plan, as the file that davit restore reads, and proven', async () => {
  const { t, restic, folder } = onDisk()
  const root = t.logInAsAdmin()
  aTarget(t, root.user.id)
  const file = join(folder, 'stored')
  restic.faults.gather = (options) =>
    restic.usual.gather({
      ...options,
      from: async (to, signal) => {
        const chunks: Uint8Array[] = []
        to.on('data', (chunk) => chunks.push(chunk))
        await options.from(to, signal)
        await Bun.write(file, Buffer.concat(chunks))
      },
    })
  const { json } = await root.post('/settings/backups', {})
  await t.jobs.idle()
  const backup = (await root.get(`/backups/${json.id}`)).json
  expect(backup).toMatchObject({ status: 'succeeded', error: null, subject: { kind: 'davit' } })
  expect(backup.contents[0].databases[0].tables).toContainEqual({ name: 'users', rows: 1 })
  expect(readdirSync(folder).filter((name) => name.startsWith('backup-'))).toEqual([])
  const directory = join(folder, 'read')
  mkdirSync(directory)
  const manifest = await extract(file, { passphrase: null, directory })
  expect(manifest.files.map(({ name }) => name)).toContain('davit.db')

  for (const refused of [
    await root.get(`/backups/${json.id}/restore`),
    await root.post(`/backups/${json.id}/restore`, {}),
  ])
    expect(refused.json).toMatchObject({
      ...{ status: 409, detail: expect.stringContaining('davit restore') },
    })

  let stored = readFileSync(file)
  restic.faults.read = ({ to, signal }) => to(Readable.from([stored]), signal)
  const prove = async () => {
    await root.post(`/backups/${json.id}/prove`, {})
    await t.jobs.idle()
    return (await root.get(`/backups/${json.id}`)).json.proven
  }
  expect(await prove()).toMatchObject({ error: null, rows: backup.rows })
  stored = Buffer.from(stored.with(stored.length >> 1, stored[stored.length >> 1]! ^ 1))
  expect((await prove()).error).toContain('davit.backup')
  expect(readdirSync(folder).filter((name) => name.startsWith('backup-'))).toEqual([])

  const member = t.logIn('ada@example.com')
  expect((await member.get('/settings/backups')).status).toBe(403)
  expect((await member.post('/settings/backups', {})).status).toBe(403)
})

test('it isn’t stored for who is no longer an admin when its turn comes', async () => {
  const restic = new SimulatedRestic()
  const t = simulatedApp(
    {},
    {
      openRestic(target) {
        t.db.update(users).set({ role: 'member' }).run()
        return restic.open(target)
      },
    },
  )
  const root = t.logInAsAdmin()
  const targetId = aTarget(t, root.user.id)
  const { json } = await root.post('/settings/backups', { targetId })
  await t.jobs.idle()
  t.db.update(users).set({ role: 'admin' }).run()
  const { status, error } = (await root.get(`/backups/${json.id}`)).json
  expect([status, error.code]).toEqual(['failed', 'backup_not_allowed'])
  expect(restic.backups).toEqual([])
})

test('who is no longer an admin finds no backup of Davit', async () => {
  const { t, ada, id } = await ofAnAdmin()
  expect((await ada.get('/backups')).json.items).toMatchObject([{ id }])
  t.db.update(users).set({ role: 'member' }).where(eq(users.id, ada.user.id)).run()
  expect((await ada.get('/backups')).json.items).toEqual([])
  for (const path of ['', '/logs', '/download', '/restore'])
    expect((await ada.get(`/backups/${id}${path}`)).status, path).toBe(404)
  for (const path of ['/prove', '/cancel', '/restore'])
    expect((await ada.post(`/backups/${id}${path}`, {})).status, path).toBe(404)
  expect((await ada.delete(`/backups/${id}`)).status).toBe(404)
})

test('an heir who is a member gets no backup, plan or target of Davit: the admin who deletes does', async () => {
  const { t, root, ada, id, targetId } = await ofAnAdmin()
  const heir = t.logIn('heir@example.com')
  const theirs = aTarget(t, ada.user.id)
  await planned(ada, targetId)
  const path = `/settings/users/${ada.user.id}`
  expect((await root.delete(path, { heirId: heir.user.id })).status).toBe(200)
  const targetsOf = async (client: TestClient) =>
    (await client.get('/settings/targets')).json.items.map((one: { id: string }) => one.id)
  expect((await heir.get('/backups')).json.items).toEqual([])
  expect(await targetsOf(heir)).toEqual([theirs])
  expect((await root.get(`/backups/${id}`)).json.status).toBe('succeeded')
  expect((await root.get('/settings/backups')).json.plan).toMatchObject({ targetId })
  expect(await targetsOf(root)).toEqual([targetId])
  expect(getPlan(t.db, davitId)).toMatchObject({ ownerId: root.user.id })
})

for (const [name, leave] of [
  ['is made a member', (root, path) => root.put(path, { role: 'member' })],
  ['is deleted with all they own', (root, path) => root.delete(path, { belongings: 'delete' })],
] as [string, (root: TestClient, path: string) => Promise<Answer>][])
  test(`the plan of an admin who ${name} goes on as that of the admin who does it`, async () => {
    const { t, root, ada, id, targetId } = await ofAnAdmin()
    await planned(ada, targetId)
    expect((await leave(root, `/settings/users/${ada.user.id}`)).status).toBe(200)
    await due(t)
    await t.jobs.idle()
    const { plan, items } = (await root.get('/settings/backups')).json
    expect(plan).toMatchObject({ targetId, problem: null })
    expect(items).toMatchObject([{ startedBy: 'plan', status: 'succeeded' }, { id }])
  })

test('a plan of Davit is told as overdue when its owner is disabled, or its target stays with a member', async () => {
  const { t, root, ada, targetId } = await ofAnAdmin()
  await planned(ada, targetId)
  const { id } = await made(t, ada, withVolume)
  expect((await ada.put(`/services/${id}/backups/plan`, nightly(targetId))).status).toBe(200)
  const told = async () => {
    await due(t)
    const { plan } = (await root.get('/settings/backups')).json
    const { items } = (await root.get('/settings/events')).json
    return [plan.problem.reason, items[0]?.kind, items[0]?.count]
  }
  const path = `/settings/users/${ada.user.id}`
  await root.put(path, { disabled: true })
  expect(await told()).toEqual(['owner_disabled', 'backup_overdue', 1])
  await root.put(path, { disabled: false })
  await root.put(path, { role: 'member' })
  expect(await told()).toEqual(['target_missing', 'backup_overdue', 2])
})

const nightly = (targetId: string) => ({ targetId, schedule: '0 3 * * *' })

async function planned(client: TestClient, targetId: string) {
  const { status } = await client.put('/settings/backups/plan', nightly(targetId))
  expect(status).toBe(200)
}

/** Lets its plan be due. */
async function due({ db, deps }: TestApp) {
  const at = new Date()
  setPlan(db, getPlan(db, davitId)!.id, { nextAt: at })
  await startDue(db, timed(deps), at)
}

/** Two admins, of whom the second has backed up Davit to a target that holds nothing else. */
async function ofAnAdmin() {
  const { t } = onDisk()
  const root = t.logInAsAdmin()
  const ada = t.logInAsAdmin('ada@example.com')
  const targetId = aTarget(t, ada.user.id)
  const { json } = await ada.post('/settings/backups', { targetId })
  await t.jobs.idle()
  return { t, root, ada, id: json.id as string, targetId }
}

/** With databases that are files, as only those can be stored. */
function onDisk() {
  const folder = mkdtempSync(join(tmpdir(), 'davit-own-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const restic = new SimulatedRestic()
  const env = { DAVIT_DATA_DIR: folder, DAVIT_SECRET_KEY: 'a secret of the tests, 32 bytes long' }
  const t = simulatedApp(env, {
    openRestic: restic.open,
    db: openDatabase(join(folder, 'davit.db')),
    logDb: openLogDatabase(join(folder, 'logs.db')),
  })
  return { t, restic, folder }
}
