import { describe, expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { noteInspected, noteTrouble } from '../../src/containers/troubles.ts'
import { DiskGuard } from '../../src/containers/disk-guard.ts'
import { certificates, deployments, domains, events, runs, users } from '../../src/db/schema.ts'
import { insertDeployment } from '../../src/deployments/store.ts'
import type { Container } from '../../src/docker/index.ts'
import { noteCertificate } from '../../src/domains/certificate-notice.ts'
import { ServerMeter } from '../../src/home/server.ts'
import { getJob, listJobIds } from '../../src/jobs/store.ts'
import { Failure } from '../../src/platform/errors.ts'
import { runKind } from '../../src/runs/run-job.ts'
import { noteScheduleEnd } from '../../src/runs/schedule-notice.ts'
import { getRunIn } from '../../src/runs/store.ts'
import { anOwn } from '../containers/engine.ts'
import { anApp, aProject } from '../deployments/apps.ts'
import { scheduled } from '../schedules/scene.ts'
import { simulatedApp, withAda } from '../support/app.ts'
import type { TestApp } from '../support/app.ts'
import { serverId, storeServers } from '../support/servers.ts'
import { firstServer } from '../../src/platform/root.ts'

const { signal } = new AbortController()

/** Kinds, levels, titles and whose they are, oldest first. */
const toldBy = ({ db }: Pick<TestApp, 'db'>) => db.select().from(events).orderBy(events.id).all()

const kindsOf = (t: Pick<TestApp, 'db'>) => toldBy(t).map(({ kind, level }) => `${kind} ${level}`)

describe('a deployment', () => {
  test('tells that it succeeded, failed and recovered, each once, with its commit and link', async () => {
    const { t, ada } = withAda(simulatedApp())
    const project = await aProject(t, ada, anApp('x'), { port: 0 })
    const first = await project.deploy()
    await project.configure({ releaseCommand: 'sh -c "exit 3"' })
    const failed = await project.deploy()
    const row = t.db.select().from(deployments).where(eq(deployments.id, failed.id)).get()!
    insertDeployment(t.db, { ...row, id: undefined, status: 'superseded' }) // in the queue
    await project.configure({ releaseCommand: null })
    await project.deploy()
    expect([first.status, failed.status]).toEqual(['running', 'failed'])
    expect(kindsOf(t)).toEqual([
      'deployment_succeeded info',
      'deployment_failed failure',
      'deployment_recovered resolved',
    ])
    const [, event] = toldBy(t)
    expect(event).toMatchObject({
      ownerId: ada.user.id,
      projectId: project.id,
      environmentId: project.environmentId,
      href: `/projects/${project.id}/deployments/${failed.id}`,
      todo: failed.error.hint,
    })
    expect(event!.text).toContain(failed.error.message)
    expect(event!.text).toContain('Version #1 stays live.')
    expect(event!.text).toContain(`Commit ${failed.commit.hash.slice(0, 7)}`)
  })

  test('that stopped the version before it, and failed, went back by itself', async () => {
    const { t, ada } = withAda(simulatedApp())
    const project = await aProject(t, ada, anApp('x'), { port: 0, volumes: ['store:/data'] })
    await project.deploy()
    Object.assign(t.config, { settleTime: 60_000 })
    await project.configure({ processes: [{ name: 'web', command: 'sh -c "sleep 0.1; exit 5"' }] })
    const { status, downtimeMs } = await project.deploy()
    expect([status, downtimeMs]).toEqual(['failed', expect.any(Number)])
    expect(kindsOf(t)).toEqual(['deployment_succeeded info', 'deployment_reverted failure'])
    expect(toldBy(t)[1]!.title).toBe('site (production) went back to #1')
  })

  test('that is cancelled tells nothing', async () => {
    const { t, ada } = withAda(simulatedApp({}, { jobsWait: true }))
    const project = await aProject(t, ada, anApp('x'))
    const { id } = await project.trigger()
    await ada.post(`/projects/${project.id}/deployments/${id}/cancel`)
    expect(kindsOf(t)).toEqual([])
  })
})

describe('a container', () => {
  async function watched() {
    const { t, ada } = withAda(simulatedApp())
    const { id, labels, environment } = await anOwn(t, ada, 'sleep 999')
    const hear = (action: string, at = Date.now(), exitCode = '7') => {
      const event = { serverId: firstServer, type: 'container', id, action, time: new Date(at) }
      const attributes = { ...labels, exitCode }
      t.observed.crashes.hear({ ...event, attributes })
      noteTrouble(t.deps, { ...event, attributes })
    }
    const look = (found: Partial<Container>) =>
      noteInspected(t.deps, { id, labels, state: 'running', health: null, ...found } as Container)
    const open = () => toldBy(t).filter(({ endedAt, level }) => !endedAt && level !== 'resolved')
    return { t, ada, id, environment, hear, look, open }
  }

  test('in a crash loop is told once, until it has run for a minute', async () => {
    const { t, ada, environment, hear, look, open } = await watched()
    const began = Date.now() - 5000
    for (let n = 0; n < 5; n++) {
      hear('start', began + n * 1000)
      look({})
      hear('die', began + n * 1000 + 500)
    }
    expect(kindsOf(t)).toEqual(['crash_loop failure'])
    expect(open()).toMatchObject([
      { ownerId: ada.user.id, environmentId: environment.id, count: 2, endedAt: null },
    ])
    expect(open()[0]!.text).toContain('4 times')
    expect(open()[0]!.text).toContain('code 7')
    hear('start', began + 5000)
    hear('die', began + 5001, '0')
    hear('start', began + 5002)
    look({})
    expect(open()).toEqual([])
    expect(kindsOf(t)).toEqual(['crash_loop failure', 'crash_loop resolved'])
  })

  test('that is unhealthy is told, also when that was missed, and its end', async () => {
    const { t, hear, look, open } = await watched()
    hear('health_status: unhealthy')
    look({ health: 'unhealthy' })
    look({ health: 'starting' })
    expect(open()).toMatchObject([{ kind: 'unhealthy', count: 1 }])
    look({ health: 'healthy' })
    expect(kindsOf(t)).toEqual(['unhealthy failure', 'unhealthy resolved'])
    look({ health: 'unhealthy' })
    expect(open()).toMatchObject([{ kind: 'unhealthy' }])
  })

  test('that runs out of memory is told', async () => {
    const { t, hear, look } = await watched()
    hear('oom')
    hear('die')
    look({ state: 'restarting' })
    expect(kindsOf(t)).toEqual(['out_of_memory failure'])
    hear('start')
    look({})
    expect(kindsOf(t)).toEqual(['out_of_memory failure', 'out_of_memory resolved'])
  })

  test('of another owner, or that is not live, tells nothing', async () => {
    const { t, id, hear } = await watched()
    noteTrouble(t.deps, {
      ...{
        serverId: firstServer,
        type: 'container',
        id: 'f'.repeat(64),
        action: 'oom',
        time: new Date(),
      },
      attributes: { 'davit.instance': t.instanceId },
    })
    for (const state of ['draining', 'stopped', 'starting']) {
      t.db.$client.query('UPDATE instances SET state = ? WHERE container_id = ?').run(state, id)
      hear('oom')
    }
    expect(kindsOf(t)).toEqual([])
  })
})

describe('the server', () => {
  const size = 100 * 2 ** 30

  test('that has little disk is told once to admins, and when it has some again', async () => {
    const t = simulatedApp()
    const guard = new DiskGuard(t.deps)
    const free = async (share: number) => {
      const used = Math.round((1 - share) * 100)
      guard.space = async () => ({ folder: '/', size, free: size * share, used })
      await guard.look({ signal })
    }
    await free(0.5)
    expect(kindsOf(t)).toEqual([])
    await free(0.08)
    await free(0.07)
    await free(0.5)
    expect(kindsOf(t)).toEqual(['disk_low failure', 'disk_low resolved'])
    expect(toldBy(t)[0]).toMatchObject({ ownerId: null, href: '/settings/prune' })
  })

  test('another one is named, whose disk is measured elsewhere', async () => {
    const t = simulatedApp()
    storeServers(t.db, [{}, {}])
    const guard = new DiskGuard(t.deps)
    guard.space = async () => null
    for (const share of [0.5, 0.08, 0.07, 0.5]) {
      const used = Math.round((1 - share) * 100)
      t.serverEngines.disks.set(serverId(2), { folder: '/', size, free: size * share, used })
      await guard.look({ signal })
    }
    expect(toldBy(t).map(({ subject, level }) => [subject, level])).toEqual([
      ['server2', 'failure'],
      ['server2', 'resolved'],
    ])
  })

  test('that is low on memory for a minute is told, not for a moment', () => {
    const t = simulatedApp()
    const meter = new ServerMeter(t.config, t.db)
    const measure = (share: number, times = 1) => {
      while (times-- > 0) meter.noteMemory({ free: size * share, size })
    }
    measure(0.01, 11)
    measure(0.5)
    measure(0.01, 11)
    expect(kindsOf(t)).toEqual([])
    measure(0.01)
    measure(0.07)
    expect(kindsOf(t)).toEqual(['memory_low warning'])
    measure(0.2)
    expect(kindsOf(t)).toEqual(['memory_low warning', 'memory_low resolved'])
  })
})

test('a certificate that fails is told to the owner of its domain, and when it is there', async () => {
  const { t, ada } = withAda(simulatedApp())
  const { environment, project } = await anOwn(t, ada, 'sleep 999')
  const host = 'shop.example.com'
  t.db.insert(domains).values({ host, path: '/', position: 9, environmentId: environment.id }).run()
  t.db.insert(certificates).values({ host }).run()
  const set = (values: Partial<typeof certificates.$inferInsert>) => {
    t.db.update(certificates).set(values).run()
    noteCertificate(t.db, host, { ownerId: ada.user.id })
  }
  set({ status: 'waiting', errorMessage: 'It points elsewhere.' })
  expect(kindsOf(t)).toEqual([])
  set({ status: 'failed', errorMessage: 'Too many requests.', errorHint: 'Wait.' })
  set({ status: 'failed' })
  expect(toldBy(t)).toMatchObject([
    {
      ...{ kind: 'certificate_failing', level: 'failure', count: 2, todo: 'Wait.' },
      ...{ ownerId: ada.user.id, projectId: project.id, environmentId: environment.id },
      href: `/envs/${environment.id}/domains`,
    },
  ])
  set({ status: 'issued', errorMessage: null, notAfter: new Date('2030-01-01') })
  expect(kindsOf(t)).toEqual(['certificate_failing failure', 'certificate_failing resolved'])
})

test('a schedule whose runs fail is told once, which leads to the last of them, and that it works again', async () => {
  const { t, due, db, id } = await scheduled()
  const failing = async (at: string) => {
    await due(at)
    const job = listJobIds(db, { ownerId: t.db.select().from(users).get()!.id })[0]!
    const task = runKind(t.deps)(getJob(db, job)!)!
    await task.end({ status: 'failed', failure: new Failure('x', 'It broke.', 'Fix it.') }, signal)
    return getRunIn(db, job)!
  }
  await failing('2026-11-26T03:00:00Z')
  const { run, ...place } = await failing('2026-11-27T03:00:00Z')
  expect(toldBy(t)).toMatchObject([
    {
      ...{ kind: 'schedule_failed', level: 'failure', count: 2, environmentId: id },
      ...{ text: 'It broke.', todo: 'Fix it.', href: `/envs/${id}/runs/${run.id}` },
    },
  ])
  noteScheduleEnd(db, { run, ...place }, { status: 'cancelled' })
  noteScheduleEnd(db, { run, ...place }, { status: 'succeeded', exitCode: 0 })
  expect(kindsOf(t)).toEqual(['schedule_failed failure', 'schedule_failed resolved'])
})

test('a schedule that can’t start is told once', async () => {
  const { t, due, db } = await scheduled()
  db.$client.run('UPDATE workloads SET live_release_id = NULL')
  db.$client.run("UPDATE deployments SET status = 'failed'")
  await due('2026-11-26T03:00:00Z')
  await due('2026-11-27T03:00:00Z')
  expect(db.select().from(runs).all()).toEqual([])
  expect(toldBy(t)).toMatchObject([{ kind: 'schedule_failed', level: 'failure', count: 2 }])
})

describe('an account', () => {
  test('tells its owner of a new token, and all admins of a new admin', async () => {
    const { t, ada } = withAda(simulatedApp())
    const root = t.logInAsAdmin()
    await ada.post('/settings/tokens', { name: 'ci', scopes: ['deploy'] })
    await root.put(`/settings/users/${ada.user.id}`, { role: 'admin' })
    await root.put(`/settings/users/${ada.user.id}`, { role: 'admin' })
    expect(toldBy(t)).toMatchObject([
      { kind: 'token_created', ownerId: ada.user.id, href: '/settings/tokens' },
      { kind: 'admin_granted', ownerId: null, subject: 'ada@example.com' },
    ])
  })

  test('that is disabled and made an admin in one change is told of as a new admin', async () => {
    const { t, ada } = withAda(simulatedApp())
    const path = `/settings/users/${ada.user.id}`
    await t.logInAsAdmin().put(path, { role: 'admin', disabled: true })
    expect(toldBy(t)).toMatchObject([{ kind: 'admin_granted', subject: 'ada@example.com' }])
  })
})
