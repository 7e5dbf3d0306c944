import { expect, onTestFinished, test } from 'bun:test'
import { keepPlanned } from '../../src/deployments/planned.ts'
import { auditEvents, plannedDeployments } from '../../src/db/schema.ts'
import { readMoment } from '../../src/web/moment.ts'
import { simulatedApp, withAda } from '../support/app.ts'
import { TestClock } from '../support/clock.ts'
import { senderOf } from '../support/token.ts'
import { anApp, aProject, finished, logOf } from './apps.ts'

const start = '2026-11-27T10:00:00Z'

async function setUp() {
  const clock = new TestClock(start)
  const { t, ada } = withAda(simulatedApp({}, { clock }))
  const project = await aProject(t, ada, anApp('first'))
  const deployments = `/projects/${project.id}/deployments`
  const environment = `/projects/${project.id}/envs/${project.environmentId}`
  const stop = new AbortController()
  onTestFinished(() => stop.abort())
  const run = () => void keepPlanned(t.deps, stop)
  const plan = (asked: Record<string, unknown>) => ada.post(deployments, asked)
  const list = async () => (await ada.get(deployments)).json.items
  const planned = async () => (await ada.get(`${environment}/planned`)).json.planned
  return { clock, t, ada, project, deployments, environment, run, plan, list, planned }
}

test('a deployment is planned, changed by another time, and deploys the newest commit then', async () => {
  const s = await setUp()
  s.run()
  const first = await s.plan({ at: '2026-11-27T12:00:00+01:00', branch: 'main' })
  expect(first.status, first.text).toBe(201)
  expect(first.headers.get('location')).toBe(`${s.environment}/planned`)
  expect(first.json).toMatchObject({
    ...{ at: '2026-11-27T11:00:00.000Z', branch: 'main', commit: null, problem: null },
    ...{ environmentId: s.project.environmentId, plannedBy: 'ada@example.com' },
  })
  expect((await s.ada.get(s.environment)).json.planned).toEqual(first.json)
  const later = await s.plan({ at: '2026-11-28 08:00', zone: 'Asia/Tokyo' })
  expect(await s.planned()).toEqual(later.json)
  expect(later.json).toMatchObject({ at: '2026-11-27T23:00:00.000Z', branch: null })
  for (const page of [s.environment, `/projects/${s.project.id}`, `${s.environment}/planned`])
    expect((await s.ada.page(page)).text).toContain('2026-11-27T23:00')
  const head = s.project.repository.commit(anApp('newer'))

  await s.clock.until('2026-11-27T22:59:59Z')
  expect(await s.list()).toEqual([])
  await s.clock.until('2026-11-27T23:00:01Z')
  const [deployment] = await s.list()
  const ended = await finished(s.ada, deployment)
  expect(ended).toMatchObject({
    ...{ status: 'running', trigger: 'manual', triggeredBy: 'ada@example.com' },
    ...{ plannedAt: '2026-11-27T23:00:00.000Z', commit: { hash: head } },
  })
  expect(await s.planned()).toBeNull()
  expect((await logOf(s.ada, ended))[0]).toContain('Planned by ada@example.com')
  const actions = s.t.db.select().from(auditEvents).all()
  expect(actions.filter(({ action }) => action === 'deployment.planned')).toHaveLength(2)
})

test('what was missed while Davit was down is deployed once when it comes back, and says so', async () => {
  const s = await setUp()
  await s.plan({ at: '2026-11-27T11:00:00Z' })
  s.clock.set('2026-11-29T09:00:00Z')
  s.run()
  await s.clock.pass(2000)
  const all = await s.list()
  expect(all).toHaveLength(1)
  expect((await logOf(s.ada, await finished(s.ada, all[0])))[0]).toContain('wasn’t running')
  await s.clock.pass(3_600_000)
  expect(await s.list()).toHaveLength(1)
})

test('pushes go on meanwhile, and a time without anything new says so', async () => {
  const s = await setUp()
  s.run()
  await s.plan({ at: '2026-11-27T11:00:00Z' })
  await s.project.deploy()
  expect(await s.planned()).not.toBeNull()
  await s.clock.until('2026-11-27T11:00:01Z')
  const [deployment] = await s.list()
  const ended = await finished(s.ada, deployment)
  expect(ended).toMatchObject({ number: 2, status: 'running' })
  expect((await logOf(s.ada, ended)).join('\n')).toContain('Nothing new was there')
})

test('a planned one can be cancelled, and ends with its environment', async () => {
  const s = await setUp()
  s.run()
  await s.plan({ at: '2026-11-27T11:00:00Z' })
  expect((await s.ada.delete(`${s.environment}/planned`)).status).toBe(200)
  expect((await s.ada.delete(`${s.environment}/planned`)).status).toBe(409)
  await s.plan({ at: '2026-11-27T11:00:00Z' })
  const { id } = (await s.ada.post(`/projects/${s.project.id}/envs`, { name: 'other' })).json
  await s.plan({ at: '2026-11-27T11:00:00Z', environmentId: id })
  await s.ada.delete(s.environment)
  await s.t.jobs.idle()
  await s.clock.until('2026-11-27T11:00:01Z')
  const all = await s.list()
  expect(all.map(({ environmentId }: { environmentId: string }) => environmentId)).toEqual([id])
})

test('one that can’t be deployed at its time says why, until it is planned again', async () => {
  const s = await setUp()
  s.run()
  await s.plan({ at: '2026-11-27T11:00:00Z' })
  s.t.db.$client.run('UPDATE users SET disabled_at = 1')
  await s.clock.until('2026-11-27T11:00:01Z')
  s.t.db.$client.run('UPDATE users SET disabled_at = NULL')
  expect((await s.planned()).problem).toContain('disabled')
  expect((await s.ada.page(s.environment)).text).toContain('Not deployed')
  await s.clock.pass(3_600_000)
  expect(await s.list()).toEqual([])
  await s.plan({ at: '2026-11-27T15:00:00Z' })
  expect((await s.planned()).problem).toBeNull()
})

test('times in the past, too far away, in a bad form or with a note for now are refused, and plan nothing', async () => {
  const s = await setUp()
  const refused = async (asked: Record<string, unknown>, field: string) => {
    const { status, json } = await s.plan(asked)
    const fields = json.errors?.map((one: { field: string }) => one.field)
    expect({ status, fields }, JSON.stringify(asked)).toEqual({ status: 422, fields: [field] })
  }
  for (const at of ['2026-11-27T09:59:00Z', '2027-12-01T00:00:00Z', '2026-02-31T00:00:00Z', 'now'])
    await refused({ at }, 'at')
  for (const at of [5, '1764237600', '2026-11-28', '2026-11-28T25:00Z', '2026-11-28T08:00+99:00'])
    await refused({ at }, 'at')
  await refused({ at: '2026-11-28T08:00', zone: 'Mars/Base' }, 'zone')
  await refused({ zone: 'UTC' }, 'zone')
  await refused({ at: '2026-11-28T08:00Z', reuseImage: true }, 'at')
  await refused({ at: '2026-11-28T08:00Z', note: 'it can’t wait' }, 'note')
  await refused({ at: '2026-11-28T08:00Z', environmentId: 'none' }, 'environmentId')
  expect(await s.planned()).toBeNull()
  expect(await s.list()).toEqual([])
})

test('a local time is of its zone, and one that summer time skips is an hour later', () => {
  const at = (text: string, zone: string) => readMoment(text, zone)?.toISOString()
  expect(at('2026-07-01T12:00', 'Europe/Berlin')).toBe('2026-07-01T10:00:00.000Z')
  expect(at('2026-03-29T02:30', 'Europe/Berlin')).toBe('2026-03-29T01:30:00.000Z')
  expect(at('2026-07-01t12:00:00.5z', 'Europe/Berlin')).toBe('2026-07-01T12:00:00.500Z')
  expect(at('2026-07-01T12:00:00-07:00', 'Europe/Berlin')).toBe('2026-07-01T19:00:00.000Z')
})

test('the dialog keeps what was typed when a time is refused', async () => {
  const s = await setUp()
  const path = `${s.environment}/planned`
  const refused = await s.ada.form(path, {
    at: '2020-01-01T10:00',
    zone: 'Asia/Tokyo',
    branch: 'x',
  })
  expect(refused.status).toBe(422)
  for (const typed of ['2020-01-01T10:00', 'Asia/Tokyo', 'must be in the future'])
    expect(refused.text).toContain(typed)
  const made = await s.ada.form(path, { at: '2026-11-28T10:00', zone: 'Asia/Tokyo' })
  expect(made.status).toBe(303)
  expect((await s.planned()).at).toBe('2026-11-28T01:00:00.000Z')
})

test('another time in the dialog changes nothing else of what a program planned', async () => {
  const s = await setUp()
  const path = `${s.environment}/planned`
  const { url } = s.project.repository
  await s.plan({ at: '2026-11-28T10:00Z', tag: 'v1', repositoryUrl: `${url}/`, noCache: true })
  const stored = () => s.t.db.select().from(plannedDeployments).get()!
  const { version } = stored()
  const { text } = await s.ada.page(path)
  const hidden = text.matchAll(/type="hidden" name="([a-z_]+)" value="([^"]*)"/g)
  const sent = Object.fromEntries(Array.from(hidden, ([, name, value]) => [name, value]))
  const made = await s.ada.form(path, { ...sent, at: '2026-11-29T10:00Z', tag: 'v1' })
  expect(made.status, made.text).toBe(303)
  expect(stored()).toMatchObject({
    at: new Date('2026-11-29T10:00Z'),
    version: { repositoryUrl: version.repositoryUrl, tag: 'v1', noCache: true },
  })
})

test('a token that may deploy can’t plan another repository, whose code would get the secrets', async () => {
  const { t, ada, environment, deployments, planned } = await setUp()
  const other = { at: '2026-11-27T12:00:00Z', repositoryUrl: 'https://git.example.com/evil/app' }
  for (const path of [`${environment}/planned`, deployments]) {
    const status = await senderOf(t, ada, 'deploy')(path, other)
    expect([path, status, await planned()]).toEqual([path, 403, null])
    expect([path, await senderOf(t, ada, 'write')(path, other)]).toEqual([path, 201])
    await ada.delete(`${environment}/planned`)
  }
})
