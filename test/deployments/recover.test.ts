import { expect, onTestFinished, test } from 'bun:test'
import { deployments, outbox } from '../../src/db/schema.ts'
import { statusHandler } from '../../src/deployments/commit-status.ts'
import { queueStatus } from '../../src/deployments/status-store.ts'
import { recover } from '../../src/deployments/recover.ts'
import { insertDeployment, isEnded } from '../../src/deployments/store.ts'
import type { Deployment } from '../../src/deployments/store.ts'
import { startWaiting } from '../../src/deployments/waiting-store.ts'
import type { Job } from '../../src/jobs/store.ts'
import { Outbox } from '../../src/notifications/outbox.ts'
import { Scheduler } from '../../src/platform/scheduler.ts'
import { Failure } from '../../src/platform/errors.ts'
import { addSource } from '../git/source.ts'
import { simulatedApp, withAda } from '../support/app.ts'
import type { TestApp } from '../support/app.ts'
import type { TestClient } from '../support/client.ts'
import { startProviderServer } from '../support/provider-server.ts'
import { until } from '../support/until.ts'
import { deployed, finished, leftJob, logOf, withContainer } from './apps.ts'
import { pathOf } from './events.ts'
import { aProject as anImage } from './image-projects.ts'

/** A project whose deployments are written as a process that died has left them; nothing is begun. */
async function aProject(t: TestApp, ada: TestClient, origin: Record<string, string>) {
  const { json: project } = await ada.post('/projects', { name: 'site', ...origin })
  const { id: production } = (await ada.get(`/projects/${project.id}/envs`)).json.items[0]
  const left = (
    {
      attempt = 1,
      cancelRequested = false,
      ...values
    }: Partial<Deployment> & Partial<Pick<Job, 'attempt' | 'cancelRequested'>>,
    environmentId: string = production,
  ) => {
    const deployment = insertDeployment(t.db, {
      projectId: project.id,
      environmentId,
      trigger: 'manual',
      triggeredBy: 'ada@example.com',
      repositoryUrl: project.repositoryUrl,
      commitHash: 'a'.repeat(40),
      ...values,
    })
    const hasJob = !isEnded(deployment.status) && deployment.status !== 'waiting'
    if (hasJob) leftJob(t, deployment, { attempt, cancelRequested })
    return deployment
  }
  const environment = async (name: string) =>
    (await ada.post(`/projects/${project.id}/envs`, { name })).json.id as string
  const look = async (deployment: Deployment) => (await ada.get(pathOf(deployment))).json
  return { left, environment, look }
}

const startAgain = (t: TestApp, signal = new AbortController().signal) =>
  recover(t.deps, { signal })

test('what was in work goes back into the queue once, and its log says why', async () => {
  const { t, ada } = withAda(simulatedApp({}, { jobsWait: true }))
  const origin = { repositoryUrl: 'file:///srv/x.git' }
  const { left, environment, look } = await aProject(t, ada, origin)
  const cloning = left({ status: 'cloning' })
  const deploying = left({ status: 'deploying' }, await environment('staging'))
  const again = left({ status: 'building', attempt: 2 }, await environment('third'))
  const cancelled = left(
    { status: 'building', cancelRequested: true, image: 'davit/x:y' },
    await environment('fourth'),
  )
  await startAgain(t)
  for (const [deployment, status] of [
    [cloning, 'cloning'],
    [deploying, 'deploying'],
  ] as const) {
    expect(await look(deployment)).toMatchObject({ status: 'pending', error: null })
    expect(await logOf(ada, deployment)).toEqual([
      `Davit stopped while ${status}. The deployment resumes.`,
    ])
  }
  expect(await look(again)).toMatchObject({
    status: 'failed',
    error: { code: 'interrupted', step: 'building' },
  })
  expect(await look(cancelled)).toMatchObject({ status: 'cancelled', image: null, error: null })
})

test('an older deployment gives way to a newer one before any begins again', async () => {
  const { t, ada } = withAda(simulatedApp({}, { jobsWait: true }))
  const { left, look } = await aProject(t, ada, { repositoryUrl: 'file:///srv/x.git' })
  const older = left({ status: 'cloning' })
  const { json: newer } = await ada.post(`/projects/${older.projectId}/deployments`)
  const stopped = new AbortController()
  t.faults.info = async () => {
    stopped.abort()
    throw new Failure('engine_unreachable', 'It is away.', '')
  }
  await startAgain(t, stopped.signal)
  expect(await look(older)).toMatchObject({ status: 'superseded' })
  expect(await look(newer)).toMatchObject({ status: 'pending' })
})

test('a commit that waited while settings were applied is still deployed after a restart', async () => {
  const { t, ada } = withAda(simulatedApp({}, { jobsWait: true }))
  const { left, look } = await aProject(t, ada, { repositoryUrl: 'file:///srv/x.git' })
  const live = left({ status: 'running', image: 'davit/x:y' })
  const commit = left({ status: 'waiting', trigger: 'webhook' })
  const applied = left({ status: 'deploying', imageOf: live.id, image: live.image })
  startWaiting(t.db, { deployment: commit, ownerId: ada.user.id })
  await startAgain(t)
  expect(await look(commit)).toMatchObject({ status: 'pending' })
  expect(await look(applied)).toMatchObject({ status: 'pending' })
})

test('an image that waited while settings were applied is what runs after a restart', async () => {
  const { t, ada } = withAda(simulatedApp())
  const registry = { digest: `sha256:${'a'.repeat(64)}` }
  t.faults.imageDigest = async () => registry.digest
  const { id: projectId, environmentId, list } = await anImage(ada, 'nginx:1.29')
  const live = await deployed(ada, projectId)
  const of = { projectId, environmentId, triggeredBy: 'ada@example.com', repositoryUrl: '' }
  const image = { pullReference: 'nginx:1.29', pullDigest: live.pulled.digest }
  registry.digest = `sha256:${'b'.repeat(64)}`
  const held = { ...of, ...image, status: 'waiting', trigger: 'image' } as const
  const newer = insertDeployment(t.db, { ...held, pullDigest: registry.digest })
  const applied = insertDeployment(t.db, {
    ...{ ...of, ...image, imageOf: live.id, image: live.image },
    ...{ status: 'deploying', trigger: 'manual' },
  })
  leftJob(t, applied, { attempt: 1 })
  startWaiting(t.db, { deployment: newer, ownerId: ada.user.id })
  await startAgain(t)
  await finished(ada, newer)
  await finished(ada, applied)
  expect((await list()).map(([trigger, status]: string[]) => [trigger, status])).toEqual([
    ['manual', 'superseded'],
    ['image', 'running'],
    ['manual', 'superseded'],
  ])
  expect((await ada.get(pathOf(applied))).json.steps).toMatchObject([{ name: 'deploying' }])
})

test('a provider that was told of a beginning is told of the end by the next process', async () => {
  const { t, ada } = withAda(simulatedApp({}, { jobsWait: true }))
  const server = startProviderServer('github')
  onTestFinished(server.stop)
  const { statuses } = server.add({ fullName: 'team/app' })
  const origin = { sourceId: await addSource(ada, server), repository: 'team/app' }
  const { left } = await aProject(t, ada, origin)
  const commitStatus = 'pending'
  const first = withContainer(t.db, left({ status: 'superseded', commitStatus }), 'none')
  left({ status: 'superseded', commitStatus })
  left({ status: 'failed', errorStep: 'building', errorMessage: 'No.', commitStatus })
  left({ status: 'running', commitStatus: 'success' })
  // the commit ran already: what becomes of its settings is not said of it
  left({ status: 'failed', imageOf: first.id, errorStep: 'deploying', commitStatus })
  left({ status: 'cancelled' }) // it never came to a commit that anyone was told of
  for (const { id } of t.db.select().from(deployments).all()) queueStatus(t.db, id)
  const interrupted = left({ status: 'building', attempt: 2, commitStatus })

  server.mode = 'hang'
  const asked = server.requests.length
  sendMessages(t) // and is killed while the provider hangs
  await until(() => server.requests.length > asked)
  await startAgain(t)
  expect(statuses).toEqual([])

  server.mode = 'answer'
  sendMessages(t)
  const told = () => statuses.map(({ state, description }) => [state, description])
  const all = [
    ['success', 'Replaced by a newer deployment'],
    ['failure', 'Superseded by a newer deployment'],
    ['failure', 'building: No.'],
    ['failure', 'building: Davit crashed twice while building.'],
  ]
  await until(() => t.db.select().from(outbox).all().length === 0)
  expect(told()).toEqual(all)
  expect(statuses[0]!.target_url).toEndWith(pathOf(first))
  expect(statuses[3]!.target_url).toEndWith(pathOf(interrupted))
  await startAgain(t)
  expect(t.db.select().from(outbox).all()).toEqual([])
})

test('what is watched may go back before anything is asked of the engine', async () => {
  const t = simulatedApp({}, { jobsWait: true })
  const order: string[] = []
  t.faults.info = async (options) => {
    order.push('engine')
    return t.docker.info(options)
  }
  const watches = { resume: () => void order.push('watches') }
  await recover({ ...t.deps, watches }, { signal: new AbortController().signal })
  expect(order.slice(0, 2)).toEqual(['watches', 'engine'])
})

/** Sends what waits in the outbox, as the next process does. */
function sendMessages(t: TestApp) {
  const stopped = new AbortController()
  onTestFinished(() => stopped.abort())
  const next = new Outbox({ db: t.db, scheduler: new Scheduler() })
  next.handle('commit_status', async () => statusHandler(t.deps))
  t.db.$client.onWrite = next.wake
  void next.run(stopped)
}
