import { describe, expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { environments } from '../../src/db/schema.ts'
import { asToken } from '../accounts/visitor.ts'
import { day, hash, setUp } from './pulls.ts'

test('a pull request that is opened gets an environment, where exactly its head is deployed', async () => {
  const s = await setUp()
  const { status, json } = await s.tell({ head: hash(1) })
  expect(status).toBe(202)
  const made = await s.find()
  expect(made).toMatchObject({
    name: 'pr-7',
    branch: 'add-page',
    preview: {
      number: 7,
      title: 'Add a page',
      url: 'https://git.example.com/gordon/hello-world/pull/7',
      commit: hash(1),
      fork: false,
    },
  })
  expect(Date.parse(made.preview.expiresAt)).toBe(s.clock.now() + 7 * day)
  expect(json.deployments).toMatchObject([
    { environmentId: made.id, trigger: 'webhook', triggeredBy: 'gordon', branch: 'add-page' },
  ])
  expect(s.commits()).toEqual([hash(1)])
  expect(s.reasons()).toEqual([['deployed', 'Deployed to pr-7.']])
  expect((await s.find(s.base.name)).preview).toBeNull()
})

test('each push deploys it again, once, and moves the day of its end', async () => {
  const s = await setUp({ idleDays: 2 })
  await s.tell()
  await s.clock.pass(day)
  await s.tell({ action: 'synchronize', head: hash(2), title: 'Add two pages' })
  const { preview } = await s.find()
  expect(preview).toMatchObject({ title: 'Add two pages', commit: hash(2) })
  expect(Date.parse(preview.expiresAt)).toBe(s.clock.now() + 2 * day)
  for (let again = 0; again < 10; again++) await s.tell({ action: 'synchronize', head: hash(2) })
  expect(s.commits()).toEqual([hash(1), hash(2)])
})

test('a push to its branch deploys it only by the event of the pull request', async () => {
  const s = await setUp()
  await s.tell()
  const made = await s.find()
  await s.ada.put(`${s.path}/envs/${made.id}`, { autoDeploy: true })
  const { json } = await s.push({ ref: 'refs/heads/add-page' })
  expect(json.deployments).toEqual([])
  expect(s.commits()).toEqual([hash(1)])
})

test('its own settings say whether a push deploys it, and when; of what it deploys they say nothing', async () => {
  const s = await setUp()
  await s.tell()
  const path = `${s.path}/envs/${(await s.find()).id}`
  expect((await s.ada.put(path, { autoDeploy: false })).status).toBe(200)
  await s.tell({ action: 'synchronize', head: hash(2) })
  expect([s.commits(), s.reasons().at(-1)![0]]).toEqual([[hash(1)], 'ignored'])
  expect((await s.find()).preview.commit).toBe(hash(2))
  for (const wrong of [{ branch: 'main' }, { branch: null }, { tags: 'v*' }])
    expect((await s.ada.put(path, wrong)).status, JSON.stringify(wrong)).toBe(422)
  expect((await s.ada.put(path, { branch: 'add-page', tags: null })).status).toBe(200)
  const { text } = await s.ada.page(`${path}/edit`)
  expect(text).toContain('name="auto_deploy"')
  for (const name of ['branch', 'tags', 'promote_from'])
    expect(text).not.toContain(`name="${name}"`)
})

test('where it waits for checks, so does each push', async () => {
  const s = await setUp()
  await s.tell()
  const { id } = await s.find()
  s.t.db.update(environments).set({ waitForChecks: true }).where(eq(environments.id, id)).run()
  const { json } = await s.tell({ action: 'synchronize', head: hash(2) })
  expect(json.deployments).toMatchObject([{ status: 'waiting', waitUntil: expect.any(String) }])
})

test('it is a copy of the settings and the listed variables of the first environment, not of its addresses', async () => {
  const s = await setUp()
  const copied = { port: 8080, memoryMb: 300, healthPath: '/ok', volumes: ['data:/data'] }
  await s.ada.put(`${s.path}/envs/${s.base.id}`, { ...copied, domains: ['app.example.com'] })
  const variables = `/envs/${s.base.id}/variables`
  await s.ada.post(variables, { key: 'LEVEL', value: 'debug' })
  await s.ada.post(variables, { key: 'TOKEN', value: 'a secret of the base', secret: true })
  await s.ada.post(variables, { key: 'STRIPE', value: 'live', secret: true })
  expect((await s.change({ variables: ['LEVEL', 'TOKEN'] })).status).toBe(200)
  await s.tell()
  const made = await s.find()
  expect(made).toMatchObject({ ...copied, domains: [], autoDeploy: true, promoteFrom: null })
  expect(made.hostPort).not.toBe(s.base.hostPort)
  expect(s.openVariables(made.id)).toEqual([
    { key: 'LEVEL', value: 'debug', secret: false, buildTime: false },
    { key: 'TOKEN', value: 'a secret of the base', secret: true, buildTime: false },
  ])
})

describe('an event that comes after a newer one changes nothing', () => {
  const at = (minute: number) => ({ updatedAt: `2026-01-01T10:0${minute}:00Z` })

  test('whether that went back to the deployed commit, or isn’t deployed on push', async () => {
    const s = await setUp()
    await s.tell(at(0))
    await s.tell({ action: 'synchronize', ...at(2) })
    await s.tell({ action: 'synchronize', head: hash(2), ...at(1) })
    expect((await s.find()).preview.commit).toBe(hash(1))
    await s.ada.put(`${s.path}/envs/${(await s.find()).id}`, { autoDeploy: false })
    await s.tell({ action: 'synchronize', head: hash(4), ...at(4) })
    await s.tell({ action: 'synchronize', head: hash(3), ...at(3) })
    expect((await s.find()).preview.commit).toBe(hash(4))
    expect(s.commits()).toEqual([hash(1)])
  })

  test('also when it is a reopening before a close that found no preview', async () => {
    const s = await setUp()
    await s.tell({ action: 'closed', ...at(3) })
    await s.tell({ action: 'reopened', ...at(2) })
    expect(await s.find()).toBeUndefined()
  })

  test('also when it is replayed', async () => {
    const s = await setUp({ max: 1 })
    await s.tell({ number: 8 })
    await s.tell(at(0))
    await s.tell({ action: 'synchronize', head: hash(2), ...at(1) })
    await s.change({ max: 2 })
    const [newer, older] = (await s.ada.get(`${s.path}/deliveries`)).json.items
    const replay = async ({ id }: { id: string }) =>
      (await s.ada.post(`${s.path}/deliveries/${id}/replay`)).status
    expect([await replay(older), await replay(newer)]).toEqual([409, 201])
    expect((await s.find()).preview.commit).toBe(hash(2))
  })
})

describe('no preview is made', () => {
  test('beyond the maximum, whatever comes at once', async () => {
    const s = await setUp({ max: 3 })
    const numbers = Array.from({ length: 10 }, (_, at) => at + 1)
    await Promise.all(numbers.map((number) => s.tell({ number, head: hash(number) })))
    expect(await s.environments()).toBeArrayOfSize(4)
    expect(s.reasons().filter(([decision]) => decision === 'ignored')).toBeArrayOfSize(7)
  })

  test('in place of an environment of that name', async () => {
    const s = await setUp()
    const { json } = await s.ada.post(`${s.path}/envs`, { name: 'pr-7' })
    await s.tell()
    await s.tell({ action: 'closed' })
    expect(s.reasons().map(([decision]) => decision)).toEqual(['ignored', 'ignored'])
    expect(await s.find()).toMatchObject({ id: json.id, preview: null, deleting: false })
  })

  test('while they are off, which keeps those that are there', async () => {
    const s = await setUp()
    await s.tell()
    await s.change({ enabled: false })
    await s.tell({ number: 8 })
    await s.tell({ action: 'synchronize', head: hash(2) })
    expect(s.commits()).toEqual([hash(1)])
    expect(await s.environments()).toBeArrayOfSize(2)
  })

  test('by an event that strangers send at will, so it isn’t stored and displaces no other', async () => {
    const s = await setUp()
    await s.tell({ from: 43 }) // forks are off
    await s.tell({ from: 43, action: 'closed' })
    await s.tell({ action: 'labeled' })
    await s.change({ enabled: false })
    await s.tell()
    const { status, json } = await s.tell({ action: 'closed' })
    expect([status, json.reason]).toEqual([200, expect.any(String)])
    expect(s.reasons()).toEqual([])
  })

  test('of a pull request that was closed, when its other events come late', async () => {
    const s = await setUp()
    await s.tell({ action: 'closed' })
    await s.tell({ action: 'opened' })
    await s.tell({ action: 'synchronize' })
    expect(await s.environments()).toBeArrayOfSize(1)
    expect(s.reasons().map(([decision]) => decision)).toEqual(['ignored', 'ignored', 'ignored'])
  })

  test('by what happened before a close; what happened later makes one, also if no event said “reopened”', async () => {
    const s = await setUp()
    await s.tell({ action: 'closed', updatedAt: '2026-01-01T10:00:00Z' })
    await s.tell({ action: 'synchronize', updatedAt: '2026-01-01T11:00:00+02:00' })
    expect(await s.find()).toBeUndefined()
    await s.tell({ action: 'synchronize', updatedAt: '2026-01-01T12:00:00+02:00' })
    expect(await s.find()).toBeUndefined()
    await s.tell({ action: 'synchronize', updatedAt: '2026-01-01T10:00:01Z' })
    expect(await s.find()).toMatchObject({ deleting: false })
  })

  test('of a fork, unless its commits are to be approved', async () => {
    const s = await setUp()
    for (const from of [43, null]) await s.tell({ from })
    expect(await s.environments()).toBeArrayOfSize(1)
  })
})

test('it is neither the default for deployments nor a source of versions', async () => {
  const s = await setUp()
  await s.tell()
  const made = await s.find()
  const { json } = await s.ada.post(`${s.path}/deployments`)
  expect(json.environmentId).toBe(s.base.id)
  for (const [id, promoteFrom] of [
    [s.base.id, made.id],
    [made.id, s.base.id],
  ])
    expect((await s.ada.put(`${s.path}/envs/${id}`, { promoteFrom })).status).toBe(422)
  const { json: staging } = await s.ada.post(`${s.path}/envs`, { name: 'staging' })
  expect((await s.ada.delete(`${s.path}/envs/${s.base.id}`)).status).toBe(200)
  const { json: next } = await s.ada.post(`${s.path}/deployments`)
  expect(next.environmentId).toBe(staging.id)
})

test('what was delivered can be replayed', async () => {
  const s = await setUp({ max: 1 })
  await s.tell({ number: 8 })
  await s.tell()
  await s.change({ max: 2 })
  const [delivery] = (await s.ada.get(`${s.path}/deliveries`)).json.items
  const replay = () => s.ada.post(`${s.path}/deliveries/${delivery.id}/replay`)
  expect(await replay()).toMatchObject({ status: 201, json: { deployments: [{}] } })
  expect((await replay()).status).toBe(409) // it has that commit
})

test('a close is not replayed, as the pull request may have been reopened since', async () => {
  const s = await setUp()
  await s.tell({ action: 'closed' })
  await s.tell({ action: 'reopened' })
  const [, closed] = (await s.ada.get(`${s.path}/deliveries`)).json.items
  expect(closed.canReplay).toBe(false)
  expect((await s.ada.post(`${s.path}/deliveries/${closed.id}/replay`)).status).toBe(409)
  expect(await s.find()).toMatchObject({ deleting: false })
})

test('a token that only deploys makes none by a replay', async () => {
  const s = await setUp({ max: 1 })
  await s.tell({ number: 8 })
  await s.tell()
  await s.change({ max: 2 })
  const [delivery] = (await s.ada.get(`${s.path}/deliveries`)).json.items
  const replayWith = async (scope: string) => {
    const { json } = await s.ada.post('/settings/tokens', { name: scope, scopes: [scope] })
    const call = asToken(s.t.app, json.token)
    return (await call('POST', `${s.path}/deliveries/${delivery.id}/replay`)).status
  }
  expect(await replayWith('deploy')).toBe(403)
  expect(await s.environments()).toBeArrayOfSize(2)
  expect(await replayWith('write')).toBe(201)
})

test('an environment and its deployment are stored together, or neither', async () => {
  const s = await setUp()
  s.t.db.$client.run(
    "CREATE TRIGGER broken BEFORE INSERT ON jobs BEGIN SELECT RAISE(ABORT, 'killed'); END",
  )
  expect((await s.tell()).status).toBe(500)
  expect(await s.environments()).toBeArrayOfSize(1)
  s.t.db.$client.run('DROP TRIGGER broken')
  await s.tell()
  expect(s.commits()).toEqual([hash(1)])
})
