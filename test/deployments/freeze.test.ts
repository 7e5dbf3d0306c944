import { expect, test } from 'bun:test'
import { freezes } from '../../src/db/schema.ts'
import { startWaiting } from '../../src/deployments/waiting-store.ts'
import { getDeployment } from '../../src/environments/store.ts'
import { keepPlanned } from '../../src/deployments/planned.ts'
import { getFreeze } from '../../src/environments/freeze-store.ts'
import { asToken } from '../accounts/visitor.ts'
import { anApp, finished, logOf } from './apps.ts'
import { hour, iso, setUp } from './freezing.ts'
import { minute, waiting } from './waiting.ts'

const day = 24 * hour

test('pushes wait for the end of a freeze, and the newest is deployed then', async () => {
  const s = await setUp()
  s.run()
  const made = await s.freeze()
  expect(made).toMatchObject({ environmentId: s.project.environmentId, reason: 'the fair' })
  const [first, second] = [await s.push('second'), await s.push('third')]
  expect(second).toMatchObject({
    ...{ status: 'waiting', waitUntil: null, trigger: 'webhook' },
    freeze: { reason: 'the fair', until: made.until, note: null },
  })
  const [delivery] = (await s.ada.get(`/projects/${s.project.id}/deliveries`)).json.items
  expect(delivery.reason).toContain('freeze')
  expect((await s.get(first)).status).toBe('superseded')
  for (const page of [s.environment, `/projects/${s.project.id}`, `${s.deployments}/${second.id}`])
    expect((await s.ada.page(page)).text, page).toContain(made.until)
  expect((await s.ada.get(s.environment)).json.freeze).toEqual(made)

  await s.clock.pass(hour)
  expect((await s.get(second)).status).toBe('waiting')
  await s.clock.pass(hour + 1000)
  const ended = await finished(s.ada, second)
  expect(ended).toMatchObject({ status: 'running', commit: { hash: second.head } })
  expect((await logOf(s.ada, ended)).join('\n')).toContain('the fair')
  expect((await s.ada.get(s.environment)).json.freeze).toBeNull()
  expect((await s.ada.get(s.freezes)).json.items).toEqual([])
  expect(await s.list()).toHaveLength(2)
})

test('a freeze that ended while Davit was down ends at its start, also by a clock that was put forward', async () => {
  const s = await setUp()
  await s.freeze()
  const held = await s.push('second')
  s.clock.set(iso(s.now + 3 * day))
  s.run()
  await s.clock.pass(1000)
  expect(await finished(s.ada, held)).toMatchObject({ status: 'running' })
})

test('a Davit that is killed as a freeze ends starts what waits once', async () => {
  for (const moment of ['the freeze is gone', 'it is queued'] as const) {
    const s = await setUp()
    await s.freeze()
    const held = await s.push('second')
    s.t.db.delete(freezes).run()
    if (moment === 'it is queued') {
      const ownerId = s.ada.user.id
      startWaiting(s.t.db, { deployment: getDeployment(s.t.db, held.id)!, ownerId })
      await s.t.jobs.recover(['deploy'])
      s.t.jobs.wake()
    }
    s.run()
    await s.clock.pass(1000)
    expect(await finished(s.ada, held), moment).toMatchObject({ status: 'running' })
    await s.clock.pass(3 * hour)
    expect(await s.list(), moment).toHaveLength(1)
  }
})

test('pages are told when one begins', async () => {
  const s = await setUp()
  s.run()
  await s.freeze({ from: iso(s.now + hour) })
  await s.clock.pass(hour - 1000)
  const { version } = s.t.changes
  await s.clock.pass(2000)
  expect(s.t.changes.version).not.toBe(version)
})

test('its end can be changed, and it can be ended early', async () => {
  const s = await setUp()
  s.run()
  const { id } = await s.freeze()
  const held = await s.push('second')
  const until = iso(s.now + 5 * hour)
  const changed = await s.ada.put(`${s.freezes}/${id}`, { until, reason: 'a longer fair' })
  expect(changed.json, changed.text).toMatchObject({ until, reason: 'a longer fair' })
  await s.clock.pass(3 * hour)
  expect(await s.get(held)).toMatchObject({
    ...{ status: 'waiting', freeze: { until, reason: 'a longer fair', note: null } },
  })
  expect((await s.ada.delete(`${s.freezes}/${id}`)).status).toBe(200)
  await s.clock.pass(1000)
  expect(await finished(s.ada, held)).toMatchObject({ status: 'running' })
  for (const done of ['created', 'changed', 'removed'])
    expect(s.events(`freeze.${done}`)).toHaveLength(1)
})

test('what someone asks for is refused without a note, which is kept and recorded', async () => {
  const s = await setUp()
  await s.project.deploy()
  await s.freeze()
  const held = await s.push('second')
  const refusals = [
    await s.ada.post(s.deployments, {}),
    await s.ada.post(s.deployments, { reuseImage: true }),
  ]
  for (const { status, json } of refusals)
    expect([status, json.errors?.[0].field], JSON.stringify(json)).toEqual([409, 'note'])
  expect((await s.ada.post(s.deployments, { note: ' ' })).status).toBe(422)
  expect((await s.get(held)).status).toBe('waiting')

  const passed = await s.ada.post(s.deployments, { note: 'the shop is down' })
  expect(passed.status, passed.text).toBe(201)
  expect(passed.json.freeze).toMatchObject({ reason: 'the fair', note: 'the shop is down' })
  expect(await finished(s.ada, passed.json)).toMatchObject({ status: 'running' })
  expect((await s.get(held)).status).toBe('superseded')
  expect(s.events('deployment.triggered').at(-1)!.details).toMatchObject({
    ...{ freeze: 'the fair', note: 'the shop is down' },
  })
  expect((await s.ada.page(`${s.deployments}/${passed.json.id}`)).text).toContain(
    'the shop is down',
  )
})

test('a person is asked for the note, with what they had chosen', async () => {
  const s = await setUp()
  await s.freeze({ reason: '<b>fair</b>' })
  const asked = await s.ada.form(s.deployments, {
    ...{ environment_id: s.project.environmentId, branch: 'main', no_cache: '1' },
  })
  expect(asked.status).toBe(409)
  for (const part of ['name="note"', 'name="branch" value="main"', 'name="no_cache" value="1"'])
    expect(asked.text).toContain(part)
  expect(asked.text).not.toContain('<b>fair')
  const fields = { environment_id: s.project.environmentId, branch: 'main', note: 'urgent' }
  expect((await s.ada.form(s.deployments, fields)).status).toBe(303)
  const [deployment] = await s.list()
  expect(deployment.freeze.note).toBe('urgent')
})

test('a rollback passes, as do restarts, and other environments aren’t frozen', async () => {
  const s = await setUp()
  const first = await s.project.deploy()
  s.project.repository.commit(anApp('second'))
  await s.project.deploy()
  await s.freeze()
  const back = await s.ada.post(`${s.deployments}/${first.id}/rollback`, {})
  expect(back.status, back.text).toBe(201)
  expect(await finished(s.ada, back.json)).toMatchObject({ status: 'running', freeze: null })
  expect((await s.ada.post(`/envs/${s.project.environmentId}/restart`)).status).toBe(200)
  const other = (await s.ada.post(`/projects/${s.project.id}/envs`, { name: 'other' })).json
  const there = await s.ada.post(s.deployments, { environmentId: other.id })
  expect(there.json).toMatchObject({ status: 'pending', freeze: null })
})

test('an automatic promotion waits, and one by hand needs a note', async () => {
  const s = await setUp()
  s.run()
  const other = await s.ada.post(`/projects/${s.project.id}/envs`, {
    ...{ name: 'live', promoteFrom: s.project.environmentId, promoteAutomatically: true },
  })
  const fair = { from: iso(s.now), until: iso(s.now + hour), reason: 'the fair' }
  await s.ada.post(`/envs/${other.json.id}/freezes`, fair)
  const first = await s.project.deploy()
  const promoted = (await s.list()).find(
    (one: { environmentId: string }) => one.environmentId === other.json.id,
  )
  expect(promoted).toMatchObject({ status: 'waiting', trigger: 'promotion', imageOf: first.id })
  const path = `/projects/${s.project.id}/envs/${other.json.id}/promote`
  const refused = await s.ada.post(path, {})
  expect([refused.status, refused.json.errors[0].field]).toEqual([409, 'note'])
  expect((await s.ada.form(path, { deployment_id: first.id })).text).toContain('name="note"')
  await s.clock.pass(hour + 1000)
  expect(await finished(s.ada, promoted)).toMatchObject({ status: 'running', imageOf: first.id })
  await s.ada.post(`/envs/${other.json.id}/freezes`, { ...fair, reason: 'again' })
  const passed = await s.ada.post(path, { note: 'agreed with Grace' })
  expect(passed.json).toMatchObject({ status: 'pending', freeze: { note: 'agreed with Grace' } })
})

test('what is planned waits too, and can’t be planned for a time in a freeze', async () => {
  const s = await setUp()
  s.run()
  void keepPlanned(s.t.deps, s.stop)
  await s.ada.post(s.deployments, { at: iso(s.now + hour) })
  await s.freeze()
  const refused = await s.ada.post(s.deployments, { at: iso(s.now + 1.5 * hour) })
  expect([refused.status, refused.json.errors[0].field]).toEqual([422, 'at'])
  await s.clock.pass(hour + 1000)
  const [held] = await s.list()
  expect(held).toMatchObject({ status: 'waiting', freeze: { note: null } })
  expect((await s.ada.post(s.deployments, { at: iso(s.now + 9 * hour) })).status).toBe(201)
  await s.clock.pass(hour + 1000)
  expect((await finished(s.ada, held)).status).toBe('running')
})

test('a token passes only with the scope that may end the freeze, and a pipeline never; only who may pass is asked for a note', async () => {
  const s = await setUp()
  await s.freeze()
  const tokenOf = async (more: Record<string, unknown>) => {
    const asked = { name: crypto.randomUUID(), ...more }
    const { token } = (await s.ada.post('/settings/tokens', asked)).json
    const call = asToken(s.t.app, token)
    const headers = { 'Content-Type': 'application/json' }
    return async (path: string, body: object) => {
      const answer = await call('POST', path, { body: JSON.stringify(body), headers })
      const { errors = [] } = (await answer.json()) as { errors?: { field: string }[] }
      return [answer.status, ...errors.map(({ field }) => field)]
    }
  }
  const deploys = await tokenOf({ scopes: ['deploy'] })
  expect(await deploys(s.deployments, {})).toEqual([409])
  expect(await deploys(s.deployments, { note: 'now' })).toEqual([403])
  const pipeline = await tokenOf({ scopes: ['deploy'], projectId: s.project.id })
  const hook = { environmentId: s.project.environmentId, note: 'now' }
  expect(await pipeline('/hooks/deploy', hook)).toEqual([409])
  expect(await s.list()).toEqual([])
  const writes = await tokenOf({ scopes: ['write'] })
  expect(await writes(s.deployments, {})).toEqual([409, 'note'])
  expect(await writes(s.deployments, { note: 'now' })).toEqual([201])
})

test('one that waits is cancelled, and ends with its project', async () => {
  const s = await setUp()
  s.run()
  await s.freeze()
  const held = await s.push('second')
  expect((await s.ada.post(`${s.deployments}/${held.id}/cancel`)).json.status).toBe('cancelled')
  await s.push('third')
  await s.ada.delete(`/projects/${s.project.id}`)
  await s.t.jobs.idle()
  await s.clock.pass(3 * hour)
  expect((await s.ada.get(`/projects/${s.project.id}`)).status).toBe(404)
  expect(getFreeze(s.t.db, s.project.environmentId)).toBeNull()
})

test('a commit waits for its checks and the freeze, and a check that fails ends it in the freeze', async () => {
  const s = await waiting()
  const { envPath, ada, push, check, later, get } = s
  const environmentId = envPath.split('/').at(-1)!
  const { id, commit } = await push('first')
  check(commit, 'test', 'success')
  await later(0)
  const until = iso(Date.now() + hour)
  const freeze = await ada.post(`/envs/${environmentId}/freezes`, { until, reason: 'the fair' })
  await later(minute)
  expect(await get(id)).toMatchObject({
    ...{ status: 'waiting', waitUntil: null, checks: { passed: 1 } },
    freeze: { reason: 'the fair' },
  })
  const second = await push('second')
  expect(second.deployment).toMatchObject({ status: 'waiting', freeze: { note: null } })
  expect((await get(id)).status).toBe('superseded')
  check(second.commit, 'test', 'failure')
  await later(minute)
  expect((await get(second.id)).error.code).toBe('checks_failed')

  const third = await push('third')
  check(third.commit, 'test', 'success')
  await ada.delete(`/envs/${environmentId}/freezes/${freeze.json.id}`)
  await later(0)
  expect((await get(third.id)).status).toBe('waiting')
  await later(minute)
  expect(await finished(ada, await get(third.id))).toMatchObject({ status: 'running' })
})
