import { expect, test } from 'bun:test'
import { Watches } from '../../src/deployments/watch/watches.ts'
import { updateDeployment } from '../../src/deployments/store.ts'
import { getDeployment } from '../../src/environments/store.ts'
import { withAda } from '../support/app.ts'
import { until } from '../support/until.ts'
import { anApp, aProject } from './apps.ts'
import { appBehindEdge } from './simulated-edge.ts'
import { watched } from './watching.ts'

const full = () => Object.assign(new Error('database or disk is full'), { code: 'SQLITE_FULL' })

/** No transaction is stored until it is called. */
function fillDisk({ db }: Pick<Awaited<ReturnType<typeof watched>>['t'], 'db'>) {
  const transaction = db.transaction.bind(db)
  let failed = 0
  db.transaction = () => {
    failed++
    throw full()
  }
  return { count: () => failed, free: () => (db.transaction = transaction) }
}

test('a full disk delays going back, and doesn’t prevent it', async () => {
  const { t, first, stored, crash } = await watched()
  const disk = fillDisk(t)
  crash()
  await until(() => disk.count() > 1)
  expect(stored().status).toBe('running')
  disk.free()
  await until(() => stored().watch?.end === 'reverted')
  expect(getDeployment(t.db, first.id)!.status).toBe('running')
})

test('an end that could not be stored follows when the disk has room, without Davit’s restart', async () => {
  const { t, ada, project, second, stored } = await watched()
  const keep = `/projects/${project.id}/deployments/${second.id}/keep`
  const disk = fillDisk(t)
  const kept = ada.post(keep)
  await until(() => disk.count() > 1)
  disk.free()
  expect((await kept).json.watch.end).toBe('kept')
  expect(stored().watchUntil).toBeNull()
})

test('a deployment ends a watch that the next process hasn’t resumed yet', async () => {
  const { t, project, stored } = await watched()
  await t.watches.stop()
  const next = new Watches(t.deps)
  Object.assign(t.watches, { begin: next.begin.bind(next), endFor: next.endFor.bind(next) })
  await project.deployFiles(anApp('third'))
  expect(stored()).toMatchObject({ status: 'superseded', watch: { end: 'replaced' } })
  await next.stop()
})

test('requests go back at once, also while that can’t be stored', async () => {
  const { t, project, stored, crash } = await watched()
  const after = t.routes.get(project.environmentId)
  const { update } = t.db
  t.db.update = () => {
    throw full()
  }
  crash()
  await until(() => t.routes.get(project.environmentId) !== after)
  expect(stored().watch!.verdict).toBeNull()
  t.db.update = update
  await until(() => stored().watch?.end === 'reverted')
})

test('requests go back at once, while the engine is too busy to describe the container', async () => {
  const { t, project, first, stored, crash } = await watched()
  const { addresses } = (await t.docker.inspectContainer(first.containerId))!
  const [before] = Object.values(addresses)
  await t.watches.stop()
  const [asked, answers] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  t.faults.inspectContainer = async (...of) => {
    asked.resolve()
    await answers.promise
    return t.docker.inspectContainer(...of)
  }
  const next = new Watches(t.deps)
  next.resume()
  await asked.promise
  crash()
  await until(() => String(t.routes.get(project.environmentId)).startsWith(`${before}:`))
  answers.resolve()
  await until(() => stored().watch?.end === 'reverted')
  await next.stop()
})

test('requests go back after a crash while Davit was down, also while the engine still starts the container again', async () => {
  const { t, second, stored } = await watched()
  await t.watches.stop()
  const answers = Promise.withResolvers<void>()
  t.faults.inspectContainer = async (...of) => {
    await answers.promise
    return t.docker.inspectContainer(...of)
  }
  const exits = { exitCode: 1, state: 'restarting' as const }
  t.faults.listContainers = async (options) =>
    (await t.docker.listContainers(options)).map((one) =>
      one.id === second.containerId ? { ...one, ...exits } : one,
    )
  const next = new Watches(t.deps)
  next.resume()
  await until(() => stored().watch?.verdict?.code === 'crashed_after_switch')
  answers.resolve()
  await until(() => stored().watch?.end === 'reverted')
  await next.stop()
})

test('requests go back at once, while other work on the containers goes on', async () => {
  const { t, project, first, second, stored, crash } = await watched()
  const addressOf = async ({ containerId }: { containerId: string }) =>
    Object.values((await t.docker.inspectContainer(containerId))!.addresses)
  const [before] = await addressOf(first)
  const leadTo = (address?: string) =>
    String(t.routes.get(project.environmentId)).startsWith(`${address}:`)
  expect(leadTo((await addressOf(second))[0])).toBe(true)
  const work = Promise.withResolvers<void>()
  const { signal } = new AbortController()
  const busy = t.locks.run({ id: project.environmentId }, signal, () => work.promise)
  crash()
  await until(() => leadTo(before))
  expect(stored().status).toBe('running')
  work.resolve()
  await busy
  await until(() => stored().watch?.end === 'reverted')
  expect(leadTo(before)).toBe(true)
})

test('where nothing is left to go back to, the version stays and the watch ends', async () => {
  const { t, first, stored, crash } = await watched()
  const { rollOut } = t.locks
  t.locks.rollOut = (workload, signal, work) =>
    rollOut.call(t.locks, workload, signal, async () => {
      t.db.$client.run(`UPDATE instances SET state = 'removed' WHERE release_id = '${first.id}'`)
      return work()
    }) as never
  crash()
  await until(() => stored().watchUntil === null)
  expect(stored()).toMatchObject({ status: 'running', watch: { end: 'stays' } })
})

test.each([
  [
    'an old crash of the version before doesn’t keep requests from going back',
    3_600_000,
    'reverted',
  ],
  ['a crash of it just before the switch does', 0, 'stays'],
])('%s', async (_, age, end) => {
  const { t, first, stored, crash } = await watched()
  t.engine.kill(first.containerId)
  await until(() => (t.observed.condition(first.containerId)?.restartCount ?? 0) > 0)
  const since = stored().watch!.since + age
  updateDeployment(t.db, stored().id, { watch: { ...stored().watch!, since } })
  crash()
  await until(() => stored().watch?.end === end)
})

test('secrets in what told are masked, also those that are marked later', async () => {
  const { t, ada, project, second, stored, crash } = await watched()
  const { environmentId } = project
  await project.set({ key: 'KEY', value: 'very-hidden', secret: true })
  t.watched.add(environmentId, line('/known/very-hidden/x?a=1'))
  t.watched.add(environmentId, line('/later/not-yet-known'))
  const path = `/projects/${project.id}/deployments`
  expect((await ada.page(`${path}/${second.id}`)).text).not.toContain('very-hidden')
  crash()
  await until(() => stored().watch!.requests.length > 0)
  expect(stored().watch!.requests.map((one) => one.path)).toEqual([
    '/known/***/x',
    '/later/not-yet-known',
  ])
  updateDeployment(t.db, second.id, {
    watch: { ...stored().watch!, lines: ['it is not-yet-known'] },
  })
  await project.set({ key: 'LATER', value: 'not-yet-known', secret: true })
  for (const place of [
    `${path}/${second.id}`,
    path,
    `/projects/${project.id}/envs/${environmentId}/deployments`,
    '/dashboard',
  ]) {
    expect((await ada.get(place)).text, place).not.toContain('not-yet-known')
    expect((await ada.page(place)).text, place).not.toContain('not-yet-known')
  }
})

const line = (path: string) => ({ status: 500, method: 'GET', path }) as never

test('what a restart interrupts is promoted, and what a stop interrupts isn’t', async () => {
  for (const [verb, isPromoted] of [
    ['restart', true],
    ['stop', false],
  ] as const) {
    const { t, ada, project, first, second, promoted, stored } = await watched({ promotes: true })
    expect(promoted()).toEqual([first.id])
    await ada.post(`/envs/${second.environmentId}/${verb}`)
    await t.jobs.idle()
    expect(stored().watch!.end).toBe(isPromoted ? 'interrupted' : 'stopped')
    const expected = isPromoted ? [first.id, second.id] : [first.id]
    expect(promoted()).toEqual(expected)
    await ada.post(`/envs/${second.environmentId}/start`)
    await t.jobs.idle()
    t.faults.startContainer = () => Promise.reject(new Error('no'))
    expect((await project.deploy()).status).toBe('failed')
    expect(promoted()).toEqual(expected) // not later either
  }
})

test('a watch that Davit’s restart interrupts ends in its time, also without the edge, and is promoted then', async () => {
  for (const isGone of [false, true]) {
    const { t, first, second, promoted, stored } = await watched({ promotes: true })
    await t.watches.stop()
    expect(promoted()).toEqual([first.id])
    if (isGone) Object.defineProperty(t.edge, 'mode', { value: 'direct' })
    updateDeployment(t.db, second.id, { watchUntil: new Date(Date.now() + 300) })
    const next = new Watches(t.deps)
    next.resume()
    await next.idle()
    expect(stored()).toMatchObject({ status: 'running', watch: { end: 'over' } })
    expect(promoted()).toEqual([first.id, second.id])
  }
})

test('a version that stays because the next one failed is promoted then, once', async () => {
  const { t, project, first, second, promoted, stored } = await watched({ promotes: true })
  t.faults.startContainer = () => Promise.reject(new Error('no'))
  for (let times = 0; times < 2; times++) {
    expect((await project.deploy()).status).toBe('failed')
    await t.jobs.idle()
    expect(stored()).toMatchObject({ status: 'running', watch: { end: 'interrupted' } })
    expect(promoted()).toEqual([first.id, second.id])
  }
})

test('a deployment that isn’t watched says why', async () => {
  const { t, ada } = withAda(appBehindEdge())
  const project = await aProject(t, ada, anApp('x'))
  const deployed = async (settings = {}) => {
    await project.configure(settings)
    const { id, watch, unwatched } = await project.deploy()
    await t.jobs.idle()
    const { text } = await ada.page(`/projects/${project.id}/deployments/${id}`)
    expect(text.includes('Not watched')).toBe(unwatched !== null)
    return watch ? 'watched' : unwatched
  }
  expect(await deployed()).toBe('first')
  expect(await deployed()).toBe('watched')
  expect(await deployed({ watchSeconds: 0 })).toBe('off')
  const on = { watchSeconds: 60 }
  expect(await deployed({ ...on, volumes: ['data:/data'] })).toBe('watched') // the one before has none
  expect(await deployed()).toBe('stop-first')
  const processes = [{ name: 'web' }, { name: 'worker', command: 'sleep 1000000' }]
  expect(await deployed({ volumes: [], processes })).toBe('processes')
  expect(await deployed({ processes: [{ name: 'web' }], port: 0 })).toBe('worker')
  expect(await deployed({ port: 8080, hostPort: project.hostPort + 100 })).toBe('own-port')
  Object.defineProperty(t.edge, 'mode', { value: 'direct' })
  expect(await deployed()).toBe('no-edge')
})
