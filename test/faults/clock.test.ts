import { afterEach, expect, onTestFinished, setSystemTime, test } from 'bun:test'
import { join } from 'node:path'
import { startDeviceLogin, takeDeviceToken } from '../../src/accounts/device-login-store.ts'
import { resetFutureTimes, insertUser } from '../../src/accounts/store.ts'
import { countTry } from '../../src/accounts/throttle.ts'
import { dropOldEvents } from '../../src/audit/store.ts'
import { recordEvent } from '../../src/audit/record.ts'
import { isDue } from '../../src/containers/clean-up/schedule.ts'
import { CrashCount } from '../../src/runtime/crash-count.ts'
import { openDatabase } from '../../src/db/index.ts'
import { insertDeployment } from '../../src/deployments/store.ts'
import { supersedeOlder } from '../../src/deployments/waiting-store.ts'
import { insertVariable } from '../../src/environments/variable-store.ts'
import { writeOutput } from '../logs/writing.ts'
import { dropOldOutput } from '../../src/logs/retention.ts'
import { anApp, aProject } from '../deployments/apps.ts'
import { testApp } from '../support/app.ts'
import { aFolder } from '../support/folder.ts'

const hour = 3_600_000
const day = 24 * hour
const years = 3652 * day

const ahead = (milliseconds: number) => setSystemTime(new Date(Date.now() + milliseconds))
afterEach(() => void setSystemTime())

const ada = { email: 'ada@example.com', password: 'a long secret of hers' }

test.each([-hour, hour, -years])('a session outlives a clock set by %p ms', async (by) => {
  const t = testApp()
  const client = t.logIn(ada.email)
  ahead(by)
  expect((await client.get('/projects')).status).toBe(200)
  ahead(2 * hour)
  expect((await client.get('/projects')).status).toBe(200)
})

test('a login made while the clock ran years ahead ends in time', async () => {
  const t = testApp()
  ahead(years)
  const client = t.logIn(ada.email)
  const idle = t.logIn('bob@example.com')
  const token = (await client.post('/settings/tokens', token30)).json.token
  const { secret } = startDeviceLogin(t.db, { name: 'laptop', address: '192.0.2.1' })
  const use = (path: string) =>
    t.app.request(path, {
      headers: { Authorization: `Bearer ${token}`, Accept: 'application/json' },
    })
  setSystemTime()
  expect((await client.get('/projects')).status).toBe(200)
  resetFutureTimes(t.db)
  expect((await use('/projects')).status).toBe(200)
  expect(takeDeviceToken(t.db, secret)).toBeNull()
  ahead(day)
  expect(() => takeDeviceToken(t.db, secret)).toThrow()
  ahead(31 * day)
  expect((await use('/projects')).status).toBe(401)
  expect((await idle.get('/projects')).status).toBe(401)
  expect((await client.get('/projects')).status).toBe(401)
})

const token30 = { name: 'ci', scopes: ['read'], expiresInDays: 30 }

test('no one waits for logins that have failed at a time to come', () => {
  const { db } = testApp()
  const tries = { email: ada.email, address: '192.0.2.1' }
  ahead(years)
  for (let n = 0; n < 5; n++) countTry(db, tries)
  expect(() => countTry(db, tries)).toThrow(/Wait 15 minutes/)
  setSystemTime()
  expect(() => countTry(db, tries)).not.toThrow()
})

test('a clock that runs years ahead for a while costs no more than a day of what is kept', async () => {
  const t = testApp({ DAVIT_LOG_DAYS: '14' })
  const project = await aProject(t, t.logIn(ada.email), anApp('x'))
  const start = Date.now()
  for (let age = 10; age >= 0; age--) {
    setSystemTime(new Date(start - age * day))
    recordEvent(t.db, { actor: { id: null, email: 'x' }, action: 'logout' })
    const line = { time: Date.now(), stream: 'stdout', text: 'x'.repeat(70_000) } as const
    writeOutput(t, { sourceId: project.environmentId }, [line])
  }
  ahead(years)
  await dropOldOutput(t.deps)
  dropOldEvents(t.db)
  const count = (db: typeof t.db | typeof t.logDb, table: string) =>
    db.$client.query<{ n: number }, []>(`SELECT count(*) AS n FROM ${table}`).get()!.n
  expect(count(t.logDb, 'output_blocks')).toBe(10)
  expect(count(t.db, "audit_events WHERE action = 'logout'")).toBe(10)
})

test('of two deployments the one made later is the newer, though the clock was put back', async () => {
  const t = testApp()
  const { id: projectId, environmentId } = await aProject(t, t.logIn(ada.email), anApp('x'))
  const asked = { trigger: 'manual', triggeredBy: ada.email, repositoryUrl: 'x' } as const
  const insert = () => insertDeployment(t.db, { projectId, environmentId, ...asked })
  const older = insert()
  ahead(-hour)
  const newer = insert()
  expect(newer.id > older.id).toBe(true)
  supersedeOlder(t.db, newer)
  const statusOf = (id: string) =>
    t.db.$client
      .query<{ status: string }, [string]>('SELECT status FROM deployments WHERE id = ?')
      .get(id)?.status
  expect([statusOf(older.id), statusOf(newer.id)]).toEqual(['superseded', 'pending'])
})

test('all that is made later has a later id, though the clock was put back', async () => {
  const t = testApp()
  ahead(hour)
  const owner = t.logIn(ada.email)
  setSystemTime()
  const made = []
  const repositoryUrl = 'https://git.example.com/a/b.git'
  for (const name of ['older', 'newer'])
    made.push((await owner.post('/projects', { name, repositoryUrl })).json.id)
  const { environmentId } = t.db.$client
    .query<{ environmentId: string }, []>('SELECT min(id) AS environmentId FROM environments')
    .get()!
  for (const key of ['A', 'B'])
    made.push(
      insertVariable(t.db, t.secrets, {
        environmentId,
        key,
        value: 'x',
        secret: false,
        buildTime: false,
      }).id,
    )
  const ids = [owner.user.id, ...made]
  expect(ids).toEqual([...ids].sort())
})

test('the ids of a new process stand after those of all tables', () => {
  const directory = aFolder()
  const path = join(directory, 'davit.db')
  const before = openDatabase(path)
  const later = Bun.randomUUIDv7('hex', Date.now() + 100 * hour)
  const user = { email: ada.email, name: null, passwordHash: '', role: 'member' } as const
  const { id } = insertUser(before, user)
  before.$client.run('UPDATE users SET id = ? WHERE id = ?', [later, id])
  before.$client.close()
  const db = openDatabase(path)
  onTestFinished(() => db.$client.close())
  expect(insertUser(db, { ...user, email: 'bob@example.com' }).id > later).toBe(true)
})

test('a clean-up that ran at a time to come does not stand for the days before it', () => {
  const now = new Date(2026, 4, 4, 3)
  const lastRunAt = new Date(2036, 4, 4, 3)
  expect(isDue({ enabled: true, hour: 3, lastRunAt }, { now, setAt: null })).toBe(true)
})

test('a crash loop ends with its minute, though the clock was put back', () => {
  const count = new CrashCount()
  const at = Date.now()
  for (let n = 0; n < 4; n++)
    for (const action of ['start', 'die'])
      count.hear({ id: 'a', action, time: new Date(at + n), attributes: { exitCode: '1' } })
  count.hear({ id: 'a', action: 'start', time: new Date(at + 5), attributes: {} })
  expect(count.isLooping('a', at + 1000)).toBe(true)
  expect(count.isLooping('a', at - hour)).toBe(false)
})
