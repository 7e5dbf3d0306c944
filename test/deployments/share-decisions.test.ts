import { expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { auditEvents } from '../../src/db/schema.ts'
import { updateDeployment } from '../../src/deployments/store.ts'
import { Watches } from '../../src/deployments/watch/watches.ts'
import { getDeployment } from '../../src/environments/store.ts'
import { senderOf } from '../support/token.ts'
import { until } from '../support/until.ts'
import { asked, shared } from './sharing.ts'

const inAnHour = () => new Date(Date.now() + 3_600_000).toISOString()

test('in a freeze a share is promoted with a note only, which the audit log and the deployment keep, and taken back without', async () => {
  const { t, ada, path, second, stored, ask } = await shared()
  const freeze = { until: inAnHour(), reason: 'the fair' }
  await ada.post(`/envs/${second.environmentId}/freezes`, freeze)
  const promote = `${path}/deployments/${second.id}/promote`
  const refused = await ask('promote')
  expect([refused.status, refused.json.errors[0].field]).toEqual([409, 'note'])
  expect(stored().watch!.share).not.toBeNull()
  const byPipeline = senderOf(t, ada, 'deploy')
  expect(await byPipeline(promote, { note: 'it can’t wait' })).toBe(403)
  expect((await ada.post(promote, { note: 'it can’t wait' })).status).toBe(200)
  expect(stored().watch!.share).toBeNull()
  const [event] = t.db
    .select()
    .from(auditEvents)
    .where(eq(auditEvents.action, 'deployment.share_promoted'))
    .all()
  expect(event!.details).toMatchObject({ freeze: 'the fair', note: 'it can’t wait' })
  expect(stored().freeze).toEqual({
    reason: 'the fair',
    until: freeze.until,
    note: 'it can’t wait',
  })
})

test('a share that is deployed and promoted in a freeze keeps both notes', async () => {
  const { t, ada, project, path, first, ask } = await shared()
  await ask('cancel')
  const { environmentId } = first
  await ada.post(`/envs/${environmentId}/freezes`, { until: inAnHour(), reason: 'the fair' })
  const third = await project.deploy({ ...asked, note: 'prices are wrong' })
  await t.jobs.idle()
  const promote = `${path}/deployments/${third.id}/promote`
  expect((await ada.post(promote, { note: 'they are right now' })).status).toBe(200)
  const notes = t.db
    .select()
    .from(auditEvents)
    .all()
    .flatMap(({ details }) => details?.note ?? [])
  expect(notes).toEqual(['prices are wrong', 'they are right now'])
  expect(getDeployment(t.db, third.id)!.freeze).toMatchObject({
    note: 'prices are wrong; they are right now',
  })
})

test('while a share isn’t decided, changes are not applied: whose image would it be', async () => {
  const { t, ada, path, second, stored, route, addresses } = await shared()
  const variable = { key: 'GREETING', value: 'hello' }
  await ada.post(`/envs/${second.environmentId}/variables`, variable)
  const { environmentId } = second
  const applied = await ada.post(`${path}/deployments`, { environmentId, reuseImage: true })
  expect(applied.status).toBe(409)
  await t.jobs.idle()
  expect(stored()).toMatchObject({ status: 'running', watch: { end: null } })
  expect(route()).toEqual({ percent: 10, ...addresses })
})

test('a second share is refused while the first one is being built', async () => {
  const { t, ada, path, second, ask } = await shared()
  await ask('cancel')
  const { environmentId } = second
  const start = Promise.withResolvers<void>()
  t.faults.createContainer = async (options) => {
    await start.promise
    return t.docker.createContainer(options)
  }
  const third = await ada.post(`${path}/deployments`, { environmentId, ...asked })
  expect(third.status).toBe(201)
  const fourth = await ada.post(`${path}/deployments`, { environmentId, ...asked })
  expect(fourth.status).toBe(409)
  start.resolve()
  await t.jobs.idle()
  await until(() => getDeployment(t.db, third.json.id)!.status === 'running')
})

test('requests don’t go back to a version that has stopped: the new one and its settings stay', async () => {
  const { t, ada, project, path, first, addresses, ask, route } = await shared()
  await ask('cancel')
  project.repository.commit({ 'davit.yaml': 'port: 8080\nhealth_path: /ready\n' })
  const third = await project.deploy(asked)
  const stored = () => getDeployment(t.db, third.id)!
  await t.docker.stopContainer(first.containerId)
  await until(() => !Bun.deepEquals((route() as { before: string[] }).before, addresses.before))
  t.engine.kill(third.containerId)
  await until(() => stored().watch?.end !== null)
  expect(stored()).toMatchObject({ status: 'running', watch: { end: 'stays' } })
  expect(getDeployment(t.db, first.id)!.status).toBe('superseded')
  const { json } = await ada.get(`${path}/envs/${third.environmentId}`)
  expect(json).toMatchObject({ healthPath: '/ready' })
})

test('requests go back to a version that crashed with the new one, and is being started again', async () => {
  const { t, first, second, stored } = await shared()
  const { condition } = t.observed
  t.observed.condition = (id) => {
    const found = condition.call(t.observed, id)
    const ended = { state: 'restarting', finishedAt: new Date() } as const
    return id === first.containerId && found ? { ...found, ...ended } : found
  }
  t.engine.kill(second.containerId)
  await until(() => stored().watch?.end === 'reverted')
  expect(getDeployment(t.db, first.id)!.status).toBe('running')
})

test.each(['over', 'replaced'] as const)(
  'where the version before has stopped, a share that is %s leaves the new one',
  async (end) => {
    const { t, first, second, stored, addresses, route } = await shared()
    await t.docker.stopContainer(first.containerId)
    await until(() => (route() as { percent?: number }).percent === 100)
    if (end === 'over') {
      await t.watches.stop()
      updateDeployment(t.db, second.id, { watchUntil: new Date(Date.now() - 1000) })
      const next = new Watches(t.deps)
      next.resume()
      await next.idle()
    } else await t.watches.end(second, end)
    expect(stored()).toMatchObject({
      ...{ status: 'running', watch: { end: end === 'over' ? 'stays' : end } },
    })
    expect(route()).toEqual(addresses.new)
  },
)

test('a version that was stopped isn’t given all requests: they go on to the one before', async () => {
  const { t, ada, first, second, addresses, stored, ask, route } = await shared()
  await ada.post(`/containers/${second.containerId}/stop`)
  await until(() => stored().status === 'stopped')
  const stays = async () => {
    expect(stored()).toMatchObject({
      status: 'stopped',
      watch: { end: null, share: { percent: 10 } },
    })
    expect(route()).toMatchObject({ percent: 0, before: addresses.before })
    expect((await t.docker.inspectContainer(first.containerId))!.state).toBe('running')
  }
  expect((await ask('promote')).status).toBe(409)
  await stays()
  await t.watches.promote(second, 'ada@example.com', null) // it may have stopped since that was asked
  await stays()
  await t.docker.startContainer(second.containerId)
  await until(() => stored().status === 'running')
  const promoted = await ask('promote')
  expect(promoted.json.watch).toMatchObject({ share: null, figures: { after: { requests: 0 } } })
})

test('a version that has a share isn’t promoted further unless it is named, until that is decided', async () => {
  const { ada, path, project, second, ask } = await shared()
  const asked = { name: 'further', promoteFrom: project.environmentId }
  const further = `${path}/envs/${(await ada.post(`${path}/envs`, asked)).json.id}/promote`
  expect([(await ada.get(further)).status, (await ada.post(further)).status]).toEqual([409, 409])
  const named = await ada.get(`${further}?deployment_id=${second.id}`)
  expect(named.json).toMatchObject({ refused: null, deploymentId: second.id })
  await ask('promote')
  const promoted = await ada.post(further)
  expect([promoted.status, promoted.json.imageOf]).toEqual([201, second.id])
})
