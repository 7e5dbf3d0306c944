import { describe, expect, test } from 'bun:test'
import { auditEvents } from '../../src/db/schema.ts'
import { simulatedApp, withAda } from '../support/app.ts'
import { anApp, aProject, finished, rollBack } from './apps.ts'

type Settings = Record<string, unknown>

/** A project on the simulated engine with `staging`, and `production`, which is promoted from it. */
async function withStages(settings: Settings = {}) {
  const { t, ada } = withAda(simulatedApp())
  const staging = await aProject(t, ada, anApp('first'))
  const envs = `/projects/${staging.id}/envs`
  await ada.put(`${envs}/${staging.environmentId}`, { name: 'staging' })
  const made = await ada.post(envs, {
    ...{ name: 'production', promoteFrom: staging.environmentId, ...settings },
  })
  expect(made.status).toBe(201)
  const id = made.json.id as string
  const production = `${envs}/${id}`
  const promote = (asked: Settings = {}) => ada.post(`${production}/promote`, asked)
  const promoted = async (asked: Settings = {}) => {
    const answer = await promote(asked)
    expect(answer.status, answer.text).toBe(201)
    const ended = await finished(ada, answer.json)
    await t.jobs.idle()
    return ended
  }
  /** The newest deployment to production. */
  const newest = async () => (await ada.get(`${production}/deployments`)).json.items[0]
  return { t, ada, staging, envs, id, production, promote, promoted, newest }
}

test('production gets staging’s image without a build, with its own variables and release command', async () => {
  const { t, ada, staging, id, promoted, production } = await withStages({ releaseCommand: 'true' })
  await ada.post(`/envs/${id}/variables`, { key: 'WHERE', value: 'production' })
  const source = await staging.deploy()
  staging.repository.commit(anApp('newer, which nobody promoted'))

  const deployment = await promoted()
  expect(deployment).toMatchObject({
    ...{ status: 'running', trigger: 'promotion', environmentId: id, imageOf: source.id },
    ...{ image: source.image, commit: source.commit, rollbackOf: null },
  })
  expect(deployment.steps.map(({ name }: { name: string }) => name)).toEqual([
    ...['releasing', 'deploying'],
  ])
  const { live } = (await ada.get(production)).json
  const container = await t.docker.inspectContainer(live.instances[0].containerId)
  expect(container!.env).toContain('WHERE=production')
  const [event] = t.db.select().from(auditEvents).all().slice(-1)
  expect(event).toMatchObject({
    ...{ action: 'deployment.promoted', details: { from: 'staging #1', to: 'production' } },
  })
  const path = `/projects/${staging.id}/deployments`
  expect((await ada.page(`${path}/${deployment.id}`)).text).toContain('Promoted from')
  expect((await ada.page(`${path}/${source.id}`)).text).toContain('Promote to')
  expect((await ada.page(production)).text).toContain(`${production}/promote`)
})

test('an earlier version can be promoted too, and a rollback there takes back what was promoted', async () => {
  const { ada, staging, promoted, promote } = await withStages()
  const first = await staging.deploy()
  const before = await promoted()
  const second = await staging.deployFiles(anApp('second'))
  expect((await promoted()).image).toBe(second.image)
  expect(await promoted({ deploymentId: first.id })).toMatchObject({ image: first.image })
  await promoted()
  expect(await finished(ada, (await rollBack(ada, before)).json)).toMatchObject({
    ...{ status: 'running', trigger: 'rollback', image: first.image },
  })
  const elsewhere = await promote({ deploymentId: before.id })
  expect([elsewhere.status, elsewhere.json.errors[0].field]).toEqual([422, 'deploymentId'])
  expect((await promote({ deploymentId: crypto.randomUUID() })).status).toBe(404)
})

describe('automatically', () => {
  test('what goes live is promoted, through a chain; a rollback and a restart stay where they are', async () => {
    const { t, ada, staging, envs, id, newest } = await withStages({ promoteAutomatically: true })
    const { json: last } = await ada.post(envs, {
      ...{ name: 'mirror', promoteFrom: id, promoteAutomatically: true },
    })
    const first = await staging.deploy()
    await t.jobs.idle()
    expect(await newest()).toMatchObject({ image: first.image, triggeredBy: first.triggeredBy })
    const { items } = (await ada.get(`${envs}/${last.id}/deployments`)).json
    expect(items).toMatchObject([{ status: 'running', trigger: 'promotion', image: first.image }])

    const second = await staging.deployFiles(anApp('second'))
    await t.jobs.idle()
    const { id: promotion } = await newest()
    expect((await newest()).image).toBe(second.image)
    await finished(ada, (await rollBack(ada, first)).json)
    await staging.deploy({ reuseImage: true })
    await t.jobs.idle()
    expect((await newest()).id).toBe(promotion)
  })

  test('one that fails there promotes nothing', async () => {
    const { t, ada, staging, production } = await withStages({ promoteAutomatically: true })
    expect((await staging.deploy({ branch: 'missing' })).status).toBe('failed')
    await t.jobs.idle()
    expect((await ada.get(`${production}/deployments`)).json.items).toEqual([])
  })

  test('a promotion that is refused doesn’t end the deployment that it follows', async () => {
    const { t, ada, staging, id, production } = await withStages({ promoteAutomatically: true })
    t.db.$client.run('UPDATE environments SET deleting_at = 1 WHERE id = ?', [id])
    expect((await staging.deploy()).status).toBe('running')
    await t.jobs.idle()
    expect((await ada.get(`${production}/deployments`)).json.items).toEqual([])
  })
})

test('an image stays while an environment can be rolled back to it, and goes with the last', async () => {
  const { t, ada, staging, promoted, production } = await withStages()
  await ada.put(`/projects/${staging.id}/settings`, { keepImages: 2 })
  const isThere = async ({ image }: { image: string }) =>
    (await t.docker.inspectImage(image)) !== null
  const next = async (text: string) => {
    const deployment = await staging.deployFiles(anApp(text))
    await t.jobs.idle()
    return deployment
  }
  const first = await staging.deploy()
  const before = await promoted()
  const second = await next('second')
  await promoted()
  await next('third')
  const fourth = await next('fourth')
  // staging keeps the last two, production the first and, live, the second
  expect(await isThere(first)).toBe(true)
  const rollback = await finished(ada, (await rollBack(ada, before)).json)
  expect(rollback).toMatchObject({ status: 'running', image: first.image })
  await t.jobs.idle()

  await promoted()
  expect([await isThere(first), await isThere(second)]).toEqual([true, false])
  const gone = await ada.post(`${production}/promote`, { deploymentId: second.id })
  expect(gone.status).toBe(409)

  // without staging, whose images production still needs
  await ada.put(production, { promoteFrom: null })
  const path = `/projects/${staging.id}/envs/${staging.environmentId}`
  expect((await ada.delete(path)).status).toBe(200)
  expect([await isThere(first), await isThere(fourth)]).toEqual([true, true])
  expect((await ada.get(production)).json.live.instances[0].state).toBe('running')
  const { items } = (await ada.get(`${production}/deployments`)).json
  const old = items.find(
    ({ image, status }: Settings) => image === first.image && status !== 'running',
  )
  expect(await finished(ada, (await rollBack(ada, old)).json)).toMatchObject({ status: 'running' })
  await ada.delete(`/projects/${staging.id}`)
  expect([await isThere(first), await isThere(fourth)]).toEqual([false, false])
})

test('what it was built with is said before, and only by the names of variables', async () => {
  const { ada, staging, id, production } = await withStages()
  await staging.set({ key: 'API', value: 'https://staging.example.com', buildTime: true })
  await staging.set({ key: 'SAME', value: '1', buildTime: true })
  await ada.post(`/envs/${id}/variables`, { key: 'SAME', value: '1', buildTime: true })
  await ada.post(`/envs/${id}/variables`, { key: 'API', value: 'https://x.test', buildTime: true })
  await staging.deploy()
  const { json, text } = await ada.get(`${production}/promote`)
  expect(json).toMatchObject({ refused: null, builtWithout: ['API'], isLive: false })
  expect(text).not.toContain('example.com')
  expect((await ada.page(`${production}/promote`)).text).toContain('<code>API</code>')
})

describe('is refused', () => {
  test('where nothing is live, nothing went live, or it builds its own versions', async () => {
    const { ada, staging, envs, promote, production } = await withStages()
    expect((await promote()).status).toBe(409)
    const failed = await staging.deploy({ branch: 'missing' })
    expect((await promote({ deploymentId: failed.id })).status).toBe(409)
    expect(
      (await ada.get(`${production}/promote?deployment_id=${failed.id}`)).json.refused,
    ).toBeString()
    const builds = await ada.post(`${envs}/${staging.environmentId}/promote`)
    expect(builds.status).toBe(409)
  })

  test('a source in a circle, of another project, or that isn’t there', async () => {
    const { t, ada, staging, envs, id, production } = await withStages()
    const other = await aProject(t, ada, anApp('x'), { name: 'other' })
    const set = (path: string, promoteFrom: unknown) => ada.put(path, { promoteFrom })
    const first = `${envs}/${staging.environmentId}`
    for (const [path, from] of [
      ...[
        [first, id],
        [first, staging.environmentId],
        [production, id],
      ],
      ...[
        [production, other.environmentId],
        [production, 'x'],
        [production, crypto.randomUUID()],
      ],
    ] as [string, string][]) {
      const { status, json } = await set(path, from)
      expect([status, json.errors?.[0].field]).toEqual([422, 'promoteFrom'])
    }
    expect((await ada.get(first)).json.promoteFrom).toBeNull()
    const alone = await ada.put(first, { promoteAutomatically: true })
    expect([alone.status, alone.json.errors[0].field]).toEqual([422, 'promoteAutomatically'])
    const eve = t.logIn('eve@example.com')
    expect((await eve.post(`${production}/promote`)).status).toBe(404)
  })

  test('the deletion of an environment that another is promoted from', async () => {
    const { ada, envs, staging, production } = await withStages()
    const path = `${envs}/${staging.environmentId}`
    const refused = await ada.delete(path)
    expect([refused.status, refused.json.detail]).toEqual([
      409,
      expect.stringContaining('production'),
    ])
    await ada.put(production, { promoteFrom: null, promoteAutomatically: false })
    expect((await ada.delete(path)).status).toBe(200)
  })
})
