import { describe, expect, test } from 'bun:test'
import { auditEvents } from '../../src/db/schema.ts'
import { triggerDeployment } from '../../src/deployments/trigger.ts'
import { findProject } from '../../src/projects/store.ts'
import { getService } from '../../src/services/store.ts'
import { aBuild, anApp, aProject } from '../deployments/apps.ts'
import { logs, pathOf } from '../deployments/events.ts'
import type { Key } from '../deployments/events.ts'
import { idle, leftOf, reaches } from '../services/instances.ts'
import { simulatedApp, testApp } from '../support/app.ts'
import type { TestApp } from '../support/app.ts'
import type { TestClient } from '../support/client.ts'
import { until } from '../support/until.ts'

/** One that is never well: its start goes on until it is cancelled. */
const neverWell = `services: {a: {${idle}, healthcheck: {test: [CMD, "false"], interval: 1s, retries: 9999}}}`

/** Bob has a build at work and one that waits, and a service that starts; Carol has a build that waits. */
async function busy(t: TestApp) {
  const [root, bob, carol] = [
    t.logInAsAdmin(),
    t.logIn('bob@example.com'),
    t.logIn('carol@example.com'),
  ]
  const one = await aProject(t, bob, aBuild('sleep 2222'), { name: 'one' })
  const building = await one.trigger()
  await logs(bob, building, 'RUN')
  const two = await aProject(t, bob, aBuild('sleep 2222'), { name: 'two' })
  const waiting = await two.trigger()
  const { json: service } = await bob
    .htmx('POST', '/services/compose', { name: 'thing', compose: neverWell })
    .then(() => bob.get('/services'))
    .then(({ json }) => ({ json: json.instances[0] }))
  await reaches(t, service, 'starting')
  const other = await aProject(t, carol, anApp('of carol'), { name: 'three', port: 0 })
  const hers = await other.trigger()
  return { root, bob, carol, building, waiting, service, hers }
}

const statusOf = ({ db }: TestApp, { id }: Key) =>
  db.$client
    .query<{ status: string }, [string]>('SELECT status FROM deployments WHERE id = ?')
    .get(id)!.status

const itemsOf = async (root: TestClient) => (await root.get('/settings/activity')).json.items

test('all that a user has under way ends when they are disabled, and others have their turn', async () => {
  const t = testApp({ DAVIT_BUILD_CONCURRENCY: '1' })
  const { root, bob, building, waiting, service, hers } = await busy(t)
  const answer = await root.put(`/settings/users/${bob.user.id}`, { disabled: true })
  expect(answer.status).toBe(200)
  expect([statusOf(t, building), statusOf(t, waiting)]).toEqual(['cancelled', 'cancelled'])
  expect(getService(t.db, service.id)).toMatchObject({ status: 'failed', errorCode: 'cancelled' })
  expect((await leftOf(t, service)).containers).toEqual([])
  await t.jobs.idle()
  expect(statusOf(t, hers)).toBe('running')
  const project = findProject(t.db, { id: building.projectId, ownerId: bob.user.id })
  const trigger = { project, trigger: 'manual', triggeredBy: 'bob' } as const
  expect(() => triggerDeployment(t.deps, trigger)).toThrow('disabled')
})

test('all that a user has under way ends when what they have is given to another', async () => {
  const t = testApp({ DAVIT_BUILD_CONCURRENCY: '1' })
  const { root, bob, carol, building, waiting, service } = await busy(t)
  const heirId = carol.user.id
  expect((await root.delete(`/settings/users/${bob.user.id}`, { heirId })).status).toBe(200)
  expect([statusOf(t, building), statusOf(t, waiting)]).toEqual(['cancelled', 'cancelled'])
  expect((await carol.get(`/services/${service.id}`)).json.status).toBe('failed')
  expect((await carol.get(pathOf(building))).json.status).toBe('cancelled')
})

describe('an admin', () => {
  test('sees what is at work over all users, and cancels any of it', async () => {
    const t = testApp({ DAVIT_BUILD_CONCURRENCY: '1' })
    const { root, bob, carol, building, waiting, service, hers } = await busy(t)
    const names = (items: { name: string; status: string; owner: { email: string } }[]) =>
      items.map(({ name, status, owner }) => `${name} ${status} ${owner.email}`)
    expect(names(await itemsOf(root))).toEqual([
      'one, production building bob@example.com',
      'two, production pending bob@example.com',
      'three, production pending carol@example.com',
      'thing starting bob@example.com',
    ])
    const page = (await root.page('/settings/activity')).text
    for (const text of ['one, production', 'carol@example.com', 'thing'])
      expect(page).toContain(text)

    const path = (kind: string, { id }: { id: string }) => `/settings/activity/${kind}/${id}/cancel`
    for (const [kind, what] of [
      ['deployments', hers],
      ['services', service],
      ['deployments', waiting],
      ['deployments', building],
    ] as const)
      expect((await root.post(path(kind, what))).status).toBe(200)
    expect([building, waiting, hers].map((one) => statusOf(t, one))).toEqual(
      Array(3).fill('cancelled'),
    )
    expect(getService(t.db, service.id)!.status).toBe('failed')
    expect(await itemsOf(root)).toEqual([])
    expect((await root.page('/settings/activity')).text).toContain('Nothing is running')
    const events = t.db
      .select()
      .from(auditEvents)
      .all()
      .filter(({ actorId }) => actorId === root.user.id)
    expect(events.map(({ action, details }) => [action, details.owner])).toEqual([
      ['deployment.cancelled', carol.user.email],
      ['service.cancelled', bob.user.email],
      ['deployment.cancelled', bob.user.email],
      ['deployment.cancelled', bob.user.email],
    ])
    expect((await root.post(path('deployments', hers))).status).toBe(404)
    expect((await root.post(path('services', service))).status).toBe(409)
    expect((await root.post(path('services', hers))).status).toBe(404)
  })

  test('sees starts of environments and runs, without their commands, and cancels them', async () => {
    const t = simulatedApp({}, { config: { acceptTimeout: 50 } })
    const [root, bob] = [t.logInAsAdmin(), t.logIn('bob@example.com')]
    const project = await aProject(t, bob, anApp('x'), { name: 'one' })
    const deployment = await project.deploy()
    await t.jobs.idle()
    Object.assign(t.config, { settleTime: 600_000 })
    const { environmentId } = project
    expect((await bob.post(`/envs/${environmentId}/restart`)).status).toBe(202)
    const command = 'sleep 2222'
    const { id: runId } = (await bob.post(`/envs/${environmentId}/runs`, { command })).json
    const runPath = `/envs/${environmentId}/runs/${runId}`
    await until(async () => (await bob.get(runPath)).json.status === 'running')
    const owner = { id: bob.user.id, email: bob.user.email }
    const since = expect.any(String)
    const name = 'one, production'
    expect(await itemsOf(root)).toEqual([
      { kind: 'environment', id: environmentId, name, status: 'restarting', owner, since },
      { kind: 'run', id: runId, name, status: 'running', owner, since },
    ])
    const { text } = await root.page('/settings/activity')
    expect(text).toContain('Restarting')
    expect(text).not.toContain(command)
    expect(text).not.toContain(runPath) // it is its owner's

    const path = (kind: string, id: string) => `/settings/activity/${kind}/${id}/cancel`
    for (const asked of [path('environments', environmentId), path('runs', runId)]) {
      expect((await bob.post(asked)).status).toBe(403)
      expect([200, 202]).toContain((await root.post(asked)).status)
    }
    await t.jobs.idle()
    expect(await itemsOf(root)).toEqual([])
    expect((await bob.get(runPath)).json.status).toBe('cancelled')
    expect((await bob.get(pathOf(deployment))).json).toMatchObject({ error: null })
    const [first, second] = (await root.get('/settings/audit')).json.items
    expect([first.action, second.action]).toEqual(['run.cancelled', 'environment.cancelled'])
    expect(second.details).toMatchObject({ owner: bob.user.email })
    expect((await root.post(path('runs', runId))).status).toBe(404)
    expect((await root.post(path('environments', environmentId))).status).toBe(409)
    expect((await root.post(path('environments', runId))).status).toBe(404)
  })

  test('is led to what is their own', async () => {
    const t = testApp()
    const root = t.logInAsAdmin()
    const building = await (await aProject(t, root, aBuild('sleep 2222'))).trigger()
    await logs(root, building, 'RUN')
    expect((await root.page('/settings/activity')).text).toContain(`href="${pathOf(building)}"`)
  })

  test('ends the clean-up of another, and it ends with who began it', async () => {
    const t = simulatedApp()
    const [root, other] = [t.logInAsAdmin(), t.logInAsAdmin('other@example.com')]
    t.faults.diskUse = ({ signal } = {}) =>
      new Promise((_, reject) => signal!.addEventListener('abort', () => reject(signal!.reason)))
    const ends = [
      () => root.post('/settings/activity/clean-up/cancel'),
      () => root.put(`/settings/users/${other.user.id}`, { disabled: true }),
    ]
    for (const end of ends) {
      const cleaning = other.post('/settings/prune', { what: ['images'] })
      while (!t.cleanUps.isBusy) await Bun.sleep(1)
      expect(await itemsOf(root)).toMatchObject([
        { kind: 'clean-up', owner: { email: other.user.email } },
      ])
      expect((await end()).status).toBe(200)
      expect((await cleaning).status).toBe(409)
      expect(t.cleanUps.latest!.finishedAt).not.toBeNull()
    }
    expect((await root.post('/settings/activity/clean-up/cancel')).status).toBe(409)
  })

  test('only: a member sees none of it, and cancels nothing of others', async () => {
    const t = testApp()
    const [bob, carol] = [t.logIn('bob@example.com'), t.logIn('carol@example.com')]
    const project = await aProject(t, bob, aBuild('sleep 2222'))
    const building = await project.trigger()
    await logs(bob, building, 'RUN')
    expect((await carol.get('/settings/activity')).status).toBe(403)
    const path = `/settings/activity/deployments/${building.id}/cancel`
    expect((await carol.post(path)).status).toBe(403)
    expect(statusOf(t, building)).toBe('building')
  })
})
