import { expect, test } from 'bun:test'
import { outlookOf } from '../../src/backup/describe.ts'
import {
  endWorkOfThen,
  isAppSought,
  listRestored,
  listSought,
  noteWhatRan,
} from '../../src/db/restored.ts'
import {
  reconcileAfterRestore,
  reconcileReturning,
} from '../../src/deployments/reconcile-after-restore.ts'
import { observe } from '../../src/deployments/observe.ts'
import { getJob, insertDeployment, updateDeployment } from '../../src/deployments/store.ts'
import { insertWaiting } from '../../src/deployments/waiting-store.ts'
import { labelsFor, partLabel } from '../../src/docker/labels.ts'
import { insertJob, listJobIds } from '../../src/jobs/store.ts'
import { insertRelease, listInstances, updateInstance } from '../../src/runtime/store.ts'
import { findRun, insertRun } from '../../src/runs/store.ts'
import { simulatedApp, testApp, withAda } from '../support/app.ts'
import { otherEngine } from '../support/other-engine.ts'
import { storeServers } from '../support/servers.ts'
import type { TestApp } from '../support/app.ts'
import { anApp, answerOf, aProject, finished, logOf } from './apps.ts'

const signal = new AbortController().signal

type Project = Awaited<ReturnType<typeof aProject>>
type First = { id: string; image: string }

/** Takes a container away, once nobody looks any more whether it runs. */
async function wipe(t: TestApp, { containerId }: { containerId: string }) {
  await t.jobs.idle()
  await t.docker.removeContainer(containerId, { force: true })
}

/** A container of a deployment that went live after the backup. */
async function deployedSince(
  t: TestApp,
  {
    project,
    first,
    id,
    part = 'web',
  }: { project: Project; first: First; id: string; part?: string },
) {
  const labels = labelsFor({
    instanceId: t.instanceId,
    kind: 'app',
    ownerId: getJob(t.db, first.id)!.project.ownerId,
    projectId: project.id,
    environmentId: project.environmentId,
    deploymentId: id,
  })
  const limits = { memoryBytes: 32 * 2 ** 20, cpus: 1, pidsLimit: 64 }
  const container = await t.docker.createContainer({
    name: `newer-${Bun.randomUUIDv7().slice(-12)}`,
    image: first.image,
    labels: { ...labels, [partLabel]: part },
    network: 'bridge',
    ...limits,
  })
  if (part !== 'clock') await t.docker.startContainer(container)
  return container
}

/** Davit as it starts on a database that was restored. */
async function startRestored(t: TestApp) {
  endWorkOfThen(t.db)
  noteWhatRan(t.db)
  await reconcileAfterRestore(t.deps, { signal })
  expect(listRestored(t.db, 'deployment')).toEqual([])
  t.jobs.wake()
}

test('after a restore an app without its container is deployed from its image, and one with it is left alone', async () => {
  const { t, ada } = withAda(testApp())
  const project = await aProject(t, ada, anApp('here'))
  const list = async () => (await ada.get(`/projects/${project.id}/deployments`)).json.items

  const first = await project.deploy()
  await startRestored(t)
  expect(await list()).toMatchObject([{ id: first.id, status: 'running' }])

  // an older one whose image is gone with the old engine
  insertDeployment(t.db, {
    projectId: project.id,
    environmentId: project.environmentId,
    status: 'superseded',
    trigger: 'manual',
    triggeredBy: 'ada@example.com',
    repositoryUrl: project.repository.url,
    image: 'davit/gone:gone',
    id: '01900000-0000-7000-8000-000000000000',
  })
  await wipe(t, first)
  await startRestored(t)
  const again = await finished(ada, (await list())[0])
  expect(again).toMatchObject({ status: 'running', image: first.image, commit: first.commit })
  expect(again.id).not.toBe(first.id)
  expect(again.steps.map(({ name }: { name: string }) => name)).toEqual(['deploying'])
  expect(await answerOf(again)).toBe('here')
  expect((await logOf(ada, again))[0]).toContain('After a restore')
  expect((await list()).at(-1)).toMatchObject({ image: null })
})

test('after the loss of its image an app is what it was, from its commit or digest, or says that it can’t be', async () => {
  const { t, ada } = withAda(simulatedApp())
  const built = await aProject(t, ada, anApp('here'), { name: 'built' })
  const first = await built.deploy()
  built.repository.commit(anApp('newer'))
  await wipe(t, first)
  await t.docker.removeImage(first.image, { force: true })
  const others = ['uploaded', 'pulled'] as const
  const [uploaded, pulled] = await Promise.all(
    others.map((name) => aProject(t, ada, anApp('here'), { name })),
  )
  const upload = { id: Bun.randomUUIDv7(), files: 1, bytes: 1, dirty: false }
  const pullDigest = `sha256:${'a'.repeat(64)}`
  for (const [project, source] of [
    [uploaded!, { upload: { ...upload, commit: null, message: null } }],
    [pulled!, { pullReference: 'registry.invalid/shop:1', pullDigest }],
  ] as const)
    insertDeployment(t.db, {
      ...{ projectId: project.id, environmentId: project.environmentId, repositoryUrl: '' },
      ...{ status: 'running', trigger: 'manual', triggeredBy: 'ada@example.com' },
      ...{ image: 'davit/gone:gone', ...source },
    })
  noteWhatRan(t.db)
  const outlook = (await outlookOf(t.deps)).join('\n')
  for (const way of [first.commit.hash.slice(0, 7), 'davit deploy', 'registry.invalid/shop:1'])
    expect(outlook).toContain(way)
  await reconcileAfterRestore(t.deps, { signal })
  t.jobs.wake()
  const newest = async ({ id }: { id: string }) =>
    finished(ada, (await ada.get(`/projects/${id}/deployments`)).json.items[0])
  expect(await newest(built)).toMatchObject({ status: 'running', commit: first.commit })
  expect(await newest(uploaded!)).toMatchObject({
    status: 'failed',
    error: { code: 'upload_gone' },
  })
  expect(await newest(pulled!)).toMatchObject({
    status: 'running',
    pulled: { digest: pullDigest },
  })
})

/** A deployment and a run that were under way when the backup was made. */
function underWay(t: TestApp, { id: projectId, environmentId }: Project, first: First) {
  const { ownerId } = getJob(t.db, first.id)!.project
  const of = { projectId, environmentId, repositoryUrl: '', triggeredBy: 'ada@example.com' }
  const coming = insertWaiting(t.db, { ...of, ownerId, trigger: 'webhook' })
  const asked = { command: 'true', timeout: 60, startedBy: 'ada@example.com' }
  const run = insertRun(t.db, { ...asked, environmentId, deploymentId: first.id })
  insertJob(t.db, { id: run.id, kind: 'run', subjectId: environmentId, ownerId })
  return { coming, run }
}

test('what was being deployed or run when the backup was made isn’t done again: the live version is', async () => {
  const { t, ada } = withAda(simulatedApp())
  const project = await aProject(t, ada, anApp('here'))
  const first = await project.deploy()
  await wipe(t, first)
  const { coming, run } = underWay(t, project, first)
  await startRestored(t)
  const { items } = (await ada.get(`/projects/${project.id}/deployments`)).json
  const error = { code: 'end_unknown' }
  expect(items[1]).toMatchObject({ id: coming.id, status: 'failed', error })
  expect(findRun(t.db, run)).toMatchObject({ status: 'failed', errorCode: 'end_unknown' })
  expect(await finished(ada, items[0])).toMatchObject({ status: 'running', image: first.image })
  expect(listJobIds(t.db, { subjectIds: [project.environmentId] })).toEqual([])
})

test('a deployment that was under way when the backup was made, and runs, is the live one', async () => {
  const { t, ada } = withAda(simulatedApp())
  const project = await aProject(t, ada, anApp('here'))
  const first = await project.deploy()
  await wipe(t, first)
  const { coming } = underWay(t, project, first)
  const containerId = await deployedSince(t, { project, first, id: coming.id })
  const slots = [{ component: 'web', slot: 0 }]
  const workload = { id: project.environmentId, kind: 'app' } as const
  const [begun] = insertRelease(t.db, { workload, id: coming.id, components: null, slots })
  updateInstance(t.db, begun!.id, { containerId })
  updateDeployment(t.db, coming.id, { status: 'deploying' })
  await startRestored(t)
  await observe(t.deps, project.environmentId, { orphans: true, signal })
  const { items } = (await ada.get(`/projects/${project.id}/deployments`)).json
  expect(items).toMatchObject([
    { id: coming.id, status: 'running', containerId, error: null },
    { id: first.id, status: 'superseded' },
  ])
  expect((await t.docker.inspectContainer(containerId))?.state).toBe('running')
})

const processes = [
  { name: 'web' },
  { name: 'worker', command: ['sleep', '9999'], replicas: 2 },
  { name: 'clock', command: ['sleep', '9999'] },
]

test('after a restore an app that lacks one of its processes is deployed again', async () => {
  const { t, ada } = withAda(simulatedApp())
  const project = await aProject(t, ada, anApp('here'), { processes })
  const first = await project.deploy()
  await startRestored(t)
  const list = async () => (await ada.get(`/projects/${project.id}/deployments`)).json.items
  expect(await list()).toHaveLength(1)
  const last = listInstances(t.db, project.environmentId).at(-1)!
  await wipe(t, { containerId: last.containerId! })
  await startRestored(t)
  const again = await finished(ada, (await list())[0])
  expect(again).toMatchObject({ status: 'running', image: first.image })
  await t.jobs.idle()
  const rows = listInstances(t.db, project.environmentId)
  const known = rows.map(({ releaseId, state }) => [releaseId, state])
  expect(known.filter(([, state]) => state !== 'standby')).toEqual(
    Array(4).fill([again.id, 'live']),
  )
})

test('an app on a server that is away is looked for when that is back, and deployed then if it is gone', async () => {
  const { engine, docker } = otherEngine()
  const { t, ada } = withAda(simulatedApp())
  storeServers(t.db, [{}, {}])
  const project = await aProject(t, ada, anApp('here'))
  await project.deploy()
  const [instance] = listInstances(t.db, project.environmentId)
  await wipe(t, { containerId: instance!.containerId! })
  updateInstance(t.db, instance!.id, { serverId: engine.serverId })
  t.engines.add(docker)
  noteWhatRan(t.db)
  await reconcileAfterRestore(t.deps, { signal })
  expect(listSought(t.db, 'app')).toHaveLength(1)
  // what is on the other servers is looked after meanwhile
  expect(isAppSought(t.db, project.environmentId)).toBe(false)
  expect((await outlookOf(t.deps)).join()).toContain('unknown')
  const list = async () => (await ada.get(`/projects/${project.id}/deployments`)).json.items
  expect(await list()).toHaveLength(1)

  t.engines.setAway(engine, false)
  await reconcileReturning(t.deps, { kind: 'app', signal })
  expect(listSought(t.db, 'app')).toEqual([])
  expect(await list()).toHaveLength(2)
})

test('all processes that were deployed after the backup go on, but no command that ran once', async () => {
  const { t, ada } = withAda(simulatedApp())
  const project = await aProject(t, ada, anApp('here'), { processes })
  const first = await project.deploy()
  await t.jobs.idle()
  const id = Bun.randomUUIDv7()
  const made: string[] = []
  for (const part of ['worker', 'web', 'worker', 'run', 'clock'])
    made.push(await deployedSince(t, { project, first, id, part }))
  const [one, web, two, run, clock] = made as [string, string, string, string, string]
  for (const { containerId } of listInstances(t.db, project.environmentId))
    await t.docker.removeContainer(containerId!, { force: true })
  await startRestored(t)
  const { json } = await ada.get(`/projects/${project.id}/deployments/${id}`)
  expect(json).toMatchObject({ status: 'running', containerId: web })
  await observe(t.deps, project.environmentId, { orphans: true, signal })
  const rows = listInstances(t.db, project.environmentId)
  expect(
    rows.map(({ component, slot, containerId, state }) => [component, slot, containerId, state]),
  ).toEqual([
    ['worker', 0, one, 'live'],
    ['web', 0, web, 'live'],
    ['worker', 1, two, 'live'],
    ['clock', 0, clock, 'stopped'],
  ])
  expect(await t.docker.inspectContainer(run)).toBeNull()
})

test('what was deployed after the backup goes on serving, and is known by its labels', async () => {
  const { t, ada } = withAda(simulatedApp())
  const project = await aProject(t, ada, anApp('here'))
  const first = await project.deploy()
  await wipe(t, first)
  const id = Bun.randomUUIDv7()
  const newer = await deployedSince(t, { project, first, id })
  await startRestored(t)
  await t.jobs.idle()
  const { items } = (await ada.get(`/projects/${project.id}/deployments`)).json
  expect(items).toMatchObject([
    { id, status: 'running', containerId: newer, image: first.image },
    { id: first.id, status: 'superseded' },
  ])
  expect(await logOf(ada, items[0])).toEqual([expect.stringContaining('Found running')])
})
