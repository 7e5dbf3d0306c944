import { expect, test } from 'bun:test'
import { Watches } from '../../src/deployments/watch/watches.ts'
import { updateDeployment } from '../../src/deployments/store.ts'
import { getDeployment, getMain } from '../../src/environments/store.ts'
import { listInstances } from '../../src/runtime/store.ts'
import { withAda } from '../support/app.ts'
import { until } from '../support/until.ts'
import { anApp, aProject, logOf } from './apps.ts'
import { asked, shared } from './sharing.ts'
import { appBehindEdge } from './simulated-edge.ts'

test('a new version gets its share of the requests, and the one before the others', async () => {
  const { t, ada, path, first, second, addresses, stored, route } = await shared()
  expect(route()).toEqual({ percent: 10, ...addresses })
  expect(stored()).toMatchObject({
    status: 'running',
    watch: { before: first.id, seconds: 86_400 },
  })
  const json = (await ada.get(`${path}/deployments/${second.id}`)).json
  expect(json.share).toEqual({ percent: 10, sticky: true })
  expect(json.watch.share).toEqual({ percent: 10, sticky: true })
  const none = { requests: 0, errors: 0, p50: null, p95: null }
  expect(json.watch.figures).toEqual({ before: none, after: none })
  expect(Date.parse(json.watchUntil) - Date.now()).toBeGreaterThan(86_000_000)
  const page = (await ada.page(`${path}/deployments/${second.id}`)).text
  for (const said of ['10 % of the requests', 'Give it all requests', 'Take it back'])
    expect(page).toContain(said)
  expect((await ada.page(`${path}/envs/${second.environmentId}`)).text).toContain('10 % of the req')
  expect(getMain(t.db, second.environmentId)!.id).toBe(first.id) // for commands and schedules
  expect((await logOf(ada, second)).join('\n')).toContain('10 % of the requests')
  const containers = (await ada.page('/containers')).text.replace(/\s+/g, ' ')
  expect(containers).toContain('previous version, beside the new one')
  expect(containers).not.toContain('kept for a rollback')
})

test('until it is decided, pages say of the one before what it still gets, and its state stays', async () => {
  const { ada, path, first, ask } = await shared()
  const pages = [
    `${path}/deployments/${first.id}`,
    `${path}/deployments`,
    `${path}/envs/${first.environmentId}/deployments`,
    ...[path, '/dashboard'],
  ]
  const serving = async () => {
    const shown = await Promise.all(pages.map((page) => ada.page(page)))
    return shown.map(({ text }) => text.replace(/<svg.*?<\/svg>/gs, '').includes('>Serving 90 %<'))
  }
  expect(await serving()).toEqual(pages.map(() => true))
  expect((await ada.get(pages[0]!)).json.status).toBe('superseded')
  await ask('promote')
  expect(await serving()).toEqual(pages.map(() => false))
})

test('promoted, it gets all of them at once and is watched, and the one before stops after that', async () => {
  const { t, addresses, stored, ask, route, statuses, first } = await shared()
  const { status, json } = await ask('promote')
  expect([status, json.watch.share, json.share.percent]).toEqual([200, null, 10])
  expect(route()).toEqual(addresses.new)
  expect(stored().watchUntil!.getTime() - Date.now()).toBeLessThan(601_000)
  expect((await ask('promote')).status).toBe(409)
  expect((await ask('keep')).status).toBe(200)
  await t.instanceTasks.idle()
  expect(statuses()).toEqual(['superseded', 'running'])
  expect((await t.docker.inspectContainer(first.containerId))?.state).toBe('exited')
})

test('without a watch it is promoted for good, and environments that follow it get it', async () => {
  const { stored, ask, t } = await shared({ watchSeconds: 0, promotes: true })
  const count = () =>
    t.db.$client
      .query<{ count: number }, []>(
        "SELECT count(*) AS count FROM deployments WHERE trigger = 'promotion'",
      )
      .get()!.count
  expect(count()).toBe(1)
  await ask('promote')
  expect(stored()).toMatchObject({ status: 'running', watchUntil: null, watch: { end: 'over' } })
  expect(count()).toBe(2)
})

test('cancelled, all requests reach the one before again, and it is removed', async () => {
  const { t, addresses, stored, ask, route, statuses, second } = await shared()
  expect((await ask('keep')).status).toBe(409)
  const { status, json } = await ask('cancel')
  expect([status, json.status, json.watch.end]).toEqual([200, 'cancelled', 'cancelled'])
  expect(route()).toEqual(addresses.before)
  expect(statuses()).toEqual(['running', 'cancelled'])
  expect(stored()).toMatchObject({ watchUntil: null, errorCode: null })
  await t.instanceTasks.idle()
  expect(await t.docker.inspectContainer(second.containerId)).toBeNull()
  expect((await ask('cancel')).status).toBe(409)
  expect((await ask('promote')).status).toBe(409)
})

test('a crash of the new version takes all requests back, and it has failed', async () => {
  const { t, addresses, stored, route, second } = await shared()
  t.engine.kill(second.containerId)
  await until(() => stored().watch?.end === 'reverted')
  expect(stored()).toMatchObject({ status: 'failed', errorCode: 'crashed_after_switch' })
  expect(route()).toEqual(addresses.before)
})

test('a new version that someone stops gets no requests', async () => {
  const { t, addresses, route, second } = await shared()
  const { before } = addresses
  await t.docker.stopContainer(second.containerId)
  await until(() => Bun.deepEquals(route(), { percent: 0, new: before, before }))
})

test('after 24 hours it is taken back, also when Davit was down then', async () => {
  for (const isDown of [false, true]) {
    const { t, addresses, route, statuses, second, stored } = await shared()
    await t.watches.stop()
    const left = isDown ? -3_600_000 : 300
    updateDeployment(t.db, second.id, { watchUntil: new Date(Date.now() + left) })
    const next = new Watches(t.deps)
    next.resume()
    await next.idle()
    expect(statuses()).toEqual(['running', 'cancelled'])
    expect(stored().watch!.why).toContain('24 hours')
    expect(route()).toEqual(addresses.before)
  }
})

test.each(['stop', 'restart'])('a %s of the app takes it back first', async (verb) => {
  const { t, ada, first, second, statuses } = await shared()
  await ada.post(`/envs/${second.environmentId}/${verb}`)
  await t.jobs.idle()
  expect(statuses()).toEqual([verb === 'stop' ? 'stopped' : 'running', 'cancelled'])
  const live = listInstances(t.db, second.environmentId).filter(({ state }) => state !== 'draining')
  expect(live.map(({ releaseId }) => releaseId)).toEqual([first.id])
})

test('a deployment or a rollback in it takes it back first, and what fails then leaves the one before', async () => {
  const { t, project, path, ada, first, statuses, route, addresses } = await shared()
  t.faults.startContainer = () => Promise.reject(new Error('no'))
  expect((await project.deploy()).status).toBe('failed')
  await t.jobs.idle()
  expect(statuses()).toEqual(['running', 'cancelled'])
  expect(route()).toEqual(addresses.before)
  delete t.faults.startContainer
  const third = await project.deploy(asked)
  expect(third.status).toBe('running')
  const { json } = await ada.post(`${path}/deployments/${first.id}/rollback`)
  await t.jobs.idle()
  expect(getDeployment(t.db, third.id)!.status).toBe('cancelled')
  expect(getDeployment(t.db, json.id)!.status).toBe('running')
})

test('while a share can’t be taken back, nothing replaces it', async () => {
  const { t, project, second, statuses, stored, addresses, route } = await shared()
  const { rollOut } = t.locks
  t.locks.rollOut = async () => {
    t.locks.rollOut = rollOut
    throw new Error('no')
  }
  const third = await project.deploy()
  expect(third).toMatchObject({ status: 'failed', error: { code: 'still_watched' } })
  expect(statuses()).toEqual(['superseded', 'running'])
  expect(route()).toEqual({ percent: 10, ...addresses })
  t.engine.kill(second.containerId) // it is watched as before
  await until(() => stored().watch?.end === 'reverted')
  expect((await project.deploy()).status).toBe('running')
})

test.each(['stop', 'restart'])(
  'while a share can’t be taken back, a %s fails, and it is watched as before',
  async (verb) => {
    const { t, ada, second, statuses, stored, addresses, route } = await shared()
    const { rollOut } = t.locks
    t.locks.rollOut = async () => {
      t.locks.rollOut = rollOut
      throw new Error('no')
    }
    await ada.post(`/envs/${second.environmentId}/${verb}`)
    await t.jobs.idle()
    expect(stored().errorCode).toBe('still_watched')
    expect(statuses()).toEqual(['superseded', 'running'])
    expect(route()).toEqual({ percent: 10, ...addresses })
    t.engine.kill(second.containerId)
    await until(() => stored().watch?.end === 'reverted')
  },
)

test('where the version before is gone, a cancel leaves the new one, which gets all requests', async () => {
  const { t, first, stored, ask, route, addresses } = await shared()
  await t.docker.removeContainer(first.containerId, { force: true })
  t.db.$client.run(`UPDATE instances SET state = 'removed' WHERE release_id = '${first.id}'`)
  expect((await ask('cancel')).status).toBe(409)
  expect(stored()).toMatchObject({ status: 'running', watch: { end: 'stays' } })
  expect(route()).toEqual(addresses.new)
})

test('what can’t have a share is refused, with the field', async () => {
  const { t, ada } = withAda(appBehindEdge())
  const project = await aProject(t, ada, anApp('first'))
  const path = `/projects/${project.id}/deployments`
  const refused = async (body: Record<string, unknown>) => {
    const { status, json } = await ada.post(path, body)
    return [status, json.errors?.[0]?.field]
  }
  expect(await refused(asked)).toEqual([409, undefined]) // nothing runs
  await project.deploy()
  for (const percent of [undefined, 0, 51, -1, 1.5, 'ten'])
    expect([percent, ...(await refused({ ...asked, percent }))]).toEqual([percent, 422, 'percent'])
  expect(await refused({ percent: 10 })).toEqual([422, 'percent'])
  expect(await refused({ sticky: true, strategy: 'all' })).toEqual([422, 'sticky'])
  expect(await refused({ strategy: 'some' })).toEqual([422, 'strategy'])
  const at = new Date(Date.now() + 3_600_000).toISOString()
  expect(await refused({ ...asked, at })).toEqual([422, 'strategy'])
  const other = { name: 'worker', command: ['true'] }
  for (const settings of [
    { volumes: ['data:/data'] },
    { processes: [{ name: 'web' }, other] },
    { processes: [{ name: 'web' }], port: 0 },
    { port: 8080, hostPort: project.hostPort + 1 },
  ]) {
    await project.configure({ volumes: [], processes: [{ name: 'web' }], ...settings } as never)
    expect([settings, ...(await refused(asked))]).toEqual([settings, 422, 'strategy'])
  }
  await ada.put(`/projects/${project.id}/envs/${project.environmentId}`, { hostPort: null })
  const second = await project.deploy(asked)
  expect(second.status).toBe('running')
  expect(await refused(asked)).toEqual([409, undefined]) // it has one already
  await ada.post(`${path}/${second.id}/cancel`)
  Object.defineProperty(t.edge, 'mode', { value: 'external' })
  expect(await refused(asked)).toEqual([422, 'strategy'])
})

test('the settings of its commit are the environment’s once it is promoted', async () => {
  const { t, ada } = withAda(appBehindEdge())
  const project = await aProject(t, ada, anApp('first'), { drainSeconds: 0 })
  await project.deploy()
  await t.jobs.idle()
  const path = `/projects/${project.id}`
  const shown = async () =>
    (await ada.get(`${path}/envs/${project.environmentId}`)).json as Record<string, unknown>
  project.repository.commit({ 'davit.yaml': 'port: 8080\nhealth_path: /ready\n' })
  const { id } = await project.deploy(asked)
  expect(await shown()).toMatchObject({ healthPath: null, fromCode: null })
  expect((await ada.post(`${path}/deployments/${id}/promote`)).status).toBe(200)
  expect(await shown()).toMatchObject({ healthPath: '/ready', fromCode: { file: 'davit.yaml' } })
})

test.each(['stopContainer', 'removeContainer'] as const)(
  'a share fails where the version before ends meanwhile by %s, and nothing of it is left',
  async (end) => {
    const { t, ada } = withAda(appBehindEdge())
    const project = await aProject(t, ada, anApp('first'))
    const { containerId } = await project.deploy()
    await t.jobs.idle()
    t.faults.createContainer = async (options) => {
      await t.docker[end](containerId, { force: true })
      return t.docker.createContainer(options)
    }
    expect(await project.deploy(asked)).toMatchObject({
      ...{ status: 'failed', error: { code: 'share_impossible' } },
    })
    const left = await t.docker.listContainers({ all: true, labels: ['davit.kind=app'] })
    expect(left).toHaveLength(end === 'stopContainer' ? 1 : 0)
  },
)

test('a share that isn’t possible any more when its turn comes fails, and nothing is switched', async () => {
  const { t, ada } = withAda(appBehindEdge())
  const project = await aProject(t, ada, anApp('first'))
  const first = await project.deploy()
  await t.jobs.idle()
  project.repository.commit({
    'davit.yaml': 'processes:\n  - name: web\n  - name: worker\n    command: sleep 1000\n',
  })
  const second = await project.deploy(asked)
  expect(second).toMatchObject({ status: 'failed', error: { code: 'share_impossible' } })
  expect(getDeployment(t.db, first.id)!.status).toBe('running')
})

test('what is wrong in the dialog of a share is said at its field, and what was typed stays', async () => {
  const { ada } = withAda(appBehindEdge())
  const fields = { strategy: 'share', percent: '80', sticky: '1', branch: 'next' }
  const { json: project } = await ada.post('/projects', {
    name: 'site',
    repositoryUrl: 'https://git.example.com/team/site.git',
  })
  const [environment] = (await ada.get(`/projects/${project.id}/envs`)).json.items
  const post = (fields: Record<string, string>) =>
    ada.htmx('POST', `/projects/${project.id}/deployments`, {
      environment_id: environment.id,
      ...fields,
    })
  const { status, text } = await post(fields)
  expect(status).toBe(422)
  expect(text).toContain('id="field-percent-error"')
  expect(text).toMatch(/name="percent"[^>]*value="80"|value="80"[^>]*name="percent"/)
  expect(text).toContain('value="next"')
  const tooLong = { ...fields, percent: '5', note: 'a'.repeat(301) }
  for (const other of [{ branch: 'bad name' }, tooLong]) {
    const { status, text } = await post(other as Record<string, string>)
    expect([status, text.includes('<form')]).toEqual([422, false])
  }
})
