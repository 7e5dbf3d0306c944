import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { eq } from 'drizzle-orm'
import { makeToken } from '../../src/accounts/token-store.ts'
import { insertBackup } from '../../src/backups/store.ts'
import { getRow } from '../../src/db/queries.ts'
import { deployments, environments } from '../../src/db/schema.ts'
import type { backups } from '../../src/db/schema.ts'
import { insertDeployment } from '../../src/deployments/store.ts'
import type { Deployment } from '../../src/deployments/store.ts'
import { backupsOf, insertJob } from '../../src/jobs/store.ts'
import { insertRun } from '../../src/runs/store.ts'
import { Exposition } from '../../src/metrics/exposition.ts'
import { families } from '../../src/metrics/families.ts'
import { dropOld } from '../../src/traffic/collect.ts'
import { asToken } from '../accounts/visitor.ts'
import { aReading } from '../containers/usage/readings.ts'
import { aDomain, aService, anApp } from '../map/owned.ts'
import { simulatedApp, withAda, withRoot } from '../support/app.ts'
import type { TestApp } from '../support/app.ts'
import { aLine, counted } from '../traffic/access.ts'
import { openMetrics, scraped } from './scene.ts'

const repositoryUrl = 'https://git.example.com/team/site.git'

/** A deployment that began and took so many seconds. */
function deployedIn(
  t: TestApp,
  app: { id: string; projectId: string },
  seconds: number,
  status: Deployment['status'],
  more: Partial<typeof deployments.$inferInsert> = {},
) {
  const finishedAt = new Date('2026-11-20T03:00:00Z')
  const startedAt = new Date(finishedAt.getTime() - seconds * 1000).toISOString()
  return insertDeployment(t.db, {
    ...{ projectId: app.projectId, environmentId: app.id, repositoryUrl, status, finishedAt },
    ...{ trigger: 'manual', triggeredBy: 'ada@example.com' },
    steps: seconds < 0 ? [] : [{ name: 'cloning', startedAt, finishedAt: null }],
    ...more,
  })
}

test('an app, its containers and deployments, a service and jobs have their figures', async () => {
  const { t, ada } = withAda(simulatedApp({}, { jobsWait: true }))
  const app = await anApp(t, ada, {
    name: 'shop',
    hosts: ['shop.example.com'],
    processes: { web: ['live', 'live'], worker: ['stopped'] },
  })
  aService(t, ada, { name: 'db', status: 'unhealthy' })
  const [first, second] = t.db.$client
    .query("SELECT container_id FROM instances WHERE component = 'web' ORDER BY id")
    .values()
    .flat() as string[]
  const readings = [first, second].map(
    (id, at) =>
      [
        id!,
        {
          usage: null,
          reading: {
            ...{ ...aReading, readAt: new Date(), received: at, sent: at },
            ...{ memory: 1000 * (at + 1), cpuTotal: 5e8 / (at + 1) },
          },
        },
      ] as const,
  )
  t.usage.remember(new Map(readings))
  t.observed.condition = (id) => ({
    ...{ state: 'running', exitCode: 0, oomKilled: false, error: '' },
    ...{ startedAt: null, finishedAt: null },
    restartPolicy: { name: 'no' },
    restartCount: id === first ? 4 : 0,
  })
  for (const seconds of [4, 100]) deployedIn(t, app, seconds, 'superseded')
  deployedIn(t, app, 20, 'failed')
  deployedIn(t, app, -1, 'superseded')
  const waiting = insertDeployment(t.db, {
    ...{ projectId: app.projectId, environmentId: app.id, repositoryUrl },
    ...{ trigger: 'manual', triggeredBy: 'ada@example.com' },
  })
  t.db.$client.run(
    'INSERT INTO jobs (id, kind, subject_id, owner_id, created_at) VALUES (?, ?, ?, ?, 0)',
    [waiting.id, 'deploy', app.id, ada.user.id],
  )
  const { of, samples, text } = await scraped(t, ada)
  const shop = 'owner="ada@example.com",project="shop",environment="production"'
  expect(samples.get(`davit_state{${shop},state="unhealthy"}`)).toBe(1)
  expect(samples.get('davit_state{owner="ada@example.com",service="db",state="unhealthy"}')).toBe(1)
  expect(samples.get(`davit_containers{${shop},process="web",state="running"}`)).toBe(2)
  expect(samples.get(`davit_containers{${shop},process="worker",state="stopped"}`)).toBe(1)
  const byReplica = (name: string) =>
    ['1', '2'].map((replica) => samples.get(`${name}{${shop},process="web",replica="${replica}"}`))
  expect(byReplica('davit_container_restarts_total')).toEqual([4, 0])
  expect(samples.get(`davit_container_memory_bytes{${shop},process="web"}`)).toBe(3000)
  expect(samples.get(`davit_container_memory_limit_bytes{${shop},process="web"}`)).toBe(4000)
  expect(byReplica('davit_container_cpu_seconds_total')).toEqual([0.5, 0.25])
  for (const way of ['received', 'sent'])
    expect(byReplica(`davit_container_network_${way}_bytes_total`)).toEqual([0, 1])
  expect(of('davit_container_memory_bytes', 'worker')).toBeNull()
  expect(of('davit_deployments_total', 'succeeded')).toBe(2)
  expect(of('davit_deployments_total', 'failed')).toBe(1)
  const durations = 'davit_deployment_duration_seconds'
  expect(of(`${durations}_bucket`, 'succeeded', 'le="5.0"')).toBe(1)
  expect(of(`${durations}_bucket`, 'succeeded', 'le="+Inf"')).toBe(2)
  expect(of(`${durations}_sum`, 'succeeded')).toBeCloseTo(104, 3)
  expect(of('davit_certificate_expiry_timestamp_seconds', 'shop.example.com')).toBeGreaterThan(
    Date.now() / 1000,
  )
  expect(of('davit_jobs', 'kind="deploy"', 'status="waiting"')).toBe(1)
  expect(text).not.toContain('process_')
})

test('a deployment that is watched counts once that is over, as no count ever falls', async () => {
  const { t, ada } = withAda(simulatedApp())
  const app = await anApp(t, ada, { name: 'shop', processes: {} })
  const { id } = deployedIn(t, app, 4, 'running', { watchUntil: new Date() })
  const counts = async () => {
    const { of } = await scraped(t, ada)
    return ['succeeded', 'failed'].map((result) => of('davit_deployments_total', result))
  }
  expect(await counts()).toEqual([null, null])
  t.db
    .update(deployments)
    .set({ watchUntil: null, status: 'failed' })
    .where(eq(deployments.id, id))
    .run()
  expect(await counts()).toEqual([null, 1])
})

test('backups have the age of their last success and proof, and whether the last one failed', async () => {
  const { t, ada } = withAda(simulatedApp())
  const id = aService(t, ada, { name: 'db' })
  aService(t, ada, { name: 'cache' })
  const backup = (hour: number, more: Partial<typeof backups.$inferInsert>) =>
    insertBackup(t.db, {
      ...{ ownerId: ada.user.id, subjectKind: 'service', subjectId: id, subjectName: 'db' },
      ...{ targetId: 'x', startedBy: 'ada@example.com', hold: 'none', status: 'succeeded' },
      finishedAt: new Date(hour * 3_600_000),
      ...more,
    })
  const seen = async () => {
    const { of } = await scraped(t, ada)
    return ['last_success_timestamp_seconds', 'last_proof_timestamp_seconds', 'failing'].map(
      (name) => of(`davit_backup_${name}`, 'service="db"'),
    )
  }
  expect(await seen()).toEqual([null, null, null])
  backup(1, { provenAt: new Date(7_200_000) })
  backup(2, { provenAt: new Date(10_800_000), provenError: 'no table' })
  expect(await seen()).toEqual([7200, 7200, 0])
  backup(3, { goneAt: new Date() })
  backup(4, { status: 'failed' })
  backup(5, { status: 'running', finishedAt: null })
  expect(await seen()).toEqual([7200, 7200, 1])
  expect((await scraped(t, ada)).of('davit_backup_planned')).toBeNull()
})

test('requests are counted by status and duration, and the counts only grow', async () => {
  const { t, ada, has, log, collect } = await counted()
  has('app.test')
  has('www.app.test')
  log.write(
    ...[0.004, 0.02, 0.02, 9].map((duration) => aLine('app.test', { duration, size: 100 })),
    aLine('www.app.test', { status: 503, duration: 0.3, bytes_read: 70 }),
    aLine('app.test', { status: 0, size: 0, duration: 60 }),
  )
  await collect()
  const before = await scraped(t, ada)
  expect(before.of('davit_http_requests_total', '2xx')).toBe(4)
  expect(before.of('davit_http_requests_total', '5xx')).toBe(1)
  expect(before.of('davit_http_requests_total', 'aborted')).toBe(1)
  expect(before.of('davit_http_request_bytes_total')).toBe(70)
  const upTo = (le: string) => before.of('davit_http_request_duration_seconds_bucket', `le="${le}"`)
  expect(['0.005', '0.01', '0.025', '0.5', '5.0', '10.0', '+Inf'].map(upTo)).toEqual([
    1, 1, 3, 4, 4, 5, 5,
  ])
  expect(before.of('davit_http_request_duration_seconds_sum')).toBeCloseTo(9.344, 0)
  expect(before.of('davit_http_request_duration_seconds_count')).toBe(5)
  dropOld(t, Date.now() + 9 * 86_400_000)
  log.write(aLine('app.test'))
  await collect()
  const after = await scraped(t, ada)
  expect(after.of('davit_http_requests_total')).toBe(7)
})

test('a member sees their own, an admin all and the server, and a token of a project only that', async () => {
  const t = simulatedApp()
  const [ada, bob, root] = [
    t.logIn('ada@example.com'),
    t.logIn('bob@example.com'),
    t.logInAsAdmin(),
  ]
  const shop = await anApp(t, ada, { name: 'shop' })
  await anApp(t, ada, { name: 'blog' })
  await anApp(t, bob, { name: 'wiki' })
  aService(t, ada, { name: 'db' })
  const seen = async (client: typeof ada, projectId?: string) => {
    const { of } = await scraped(t, client, projectId ? { projectId } : {})
    const names = ['shop', 'blog', 'wiki', 'db'].filter((name) => of('davit_state', `="${name}"`))
    return [...names, ...(of('davit_disk_size_bytes') ? ['server'] : [])]
  }
  expect(await seen(ada)).toEqual(['shop', 'blog', 'db'])
  expect(await seen(bob)).toEqual(['wiki'])
  expect(await seen(root)).toEqual(['shop', 'blog', 'wiki', 'db', 'server'])
  expect(await seen(ada, shop.projectId)).toEqual(['shop'])
  const own = await anApp(t, root, { name: 'wiki' })
  expect(await seen(root, own.projectId)).toEqual(['wiki'])
})

test('the jobs of a project are also its runs, those of schedules and its backups', async () => {
  const { t, ada } = withAda(simulatedApp({}, { jobsWait: true }))
  const shop = await anApp(t, ada, { name: 'shop' })
  const blog = await anApp(t, ada, { name: 'blog' })
  const ownerId = ada.user.id
  for (const { id: environmentId } of [shop, blog]) {
    insertJob(t.db, { kind: 'backup', subjectId: backupsOf(environmentId), ownerId, slot: null })
    for (const subjectId of [null, `schedule of ${environmentId}`]) {
      const of = { environmentId, deploymentId: 'live', startedBy: 'ada', command: 'true' }
      const { id } = insertRun(t.db, { ...of, timeout: 60 })
      insertJob(t.db, { id, kind: 'run', subjectId: subjectId ?? id, ownerId, slot: null })
    }
  }
  const { of } = await scraped(t, ada, { projectId: shop.projectId })
  expect(['run', 'backup'].map((kind) => of('davit_jobs', `kind="${kind}"`))).toEqual([2, 1])
})

test('the scope reads nothing else, and no address takes a token', async () => {
  const { t, ada } = withAda(simulatedApp())
  const { token, type } = await scraped(t, ada)
  expect(type).toStartWith('application/openmetrics-text; version=1.0.0')
  const call = asToken(t.app, token)
  for (const path of ['/projects', '/dashboard', '/settings/tokens'])
    expect((await call('GET', path)).status).toBe(403)
  const { token: reader } = makeToken(t.db, { userId: ada.user.id, name: 'r', scopes: ['read'] })
  expect((await asToken(t.app, reader)('GET', '/metrics')).status).toBe(200)
  const headers = { Accept: openMetrics }
  for (const path of ['/metrics', `/metrics?token=${token}`, `/metrics?access_token=${token}`])
    expect((await t.app.request(path, { headers })).status).toBe(401)
})

test('a hundred containers are read without a question to the engine', async () => {
  const { t, root } = withRoot(simulatedApp())
  for (let at = 0; at < 5; at++)
    await anApp(t, root, { name: `app-${at}`, processes: { web: Array(20).fill('live') } })
  const asked: string[] = []
  for (const [name, call] of Object.entries(t.docker))
    if (typeof call === 'function')
      t.faults[name as 'info'] = ((...args: []) => (asked.push(name), call(...args))) as never
  const { of } = await scraped(t, root)
  expect(of('davit_containers')).toBe(100)
  expect(asked).toEqual(['info'])
})

test('both formats name a family by its type, and escape what users named', () => {
  const found = new Exposition(families)
  found.add('build', { version: '1' }, 1)
  found.add('requests', { project: 'a "b"\\c\nd', none: '' }, 3)
  found.add('memory', {}, Number.NaN)
  const text = (isOpenMetrics: boolean) => [...found.text({ isOpenMetrics })].join('')
  expect(text(true)).toContain('# TYPE davit_build info\n')
  expect(text(true)).toContain('# TYPE davit_http_requests counter\n')
  expect(text(true)).toEndWith('# EOF\n')
  expect(text(false)).toContain('# TYPE davit_build_info gauge\n')
  expect(text(false)).toContain('# TYPE davit_http_requests_total counter\n')
  for (const format of [true, false])
    expect(text(format)).toContain('davit_http_requests_total{project="a \\"b\\"\\\\c\\nd"} 3\n')
  expect(text(true)).not.toContain('memory')
})

test('a host that is given twice, as a domain and by its label, has one sample', async () => {
  const { t, ada } = withAda(simulatedApp({ DAVIT_DOMAIN: 'davit.example.com' }))
  const { id } = await anApp(t, ada, { name: 'shop' })
  const { label } = getRow(t.db, environments, eq(environments.id, id))!
  const host = `${label}.davit.example.com`
  aDomain(t, { environmentId: id }, host)
  const { text } = await scraped(t, ada)
  const samples = text.split('\n').filter((line) => line.includes(`host="${host}"`))
  expect(samples).toHaveLength(1)
})

test('the document names every family', async () => {
  const text = await Bun.file(join(import.meta.dir, '../../assets/docs/metrics.md')).text()
  const missing = Object.values(families).filter(({ name }) => !text.includes(name))
  expect(missing).toEqual([])
})
