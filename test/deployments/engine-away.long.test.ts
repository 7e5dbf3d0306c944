import { expect, onTestFinished, test } from 'bun:test'
import { recover } from '../../src/deployments/recover.ts'
import { insertDeployment, updateDeployment } from '../../src/deployments/store.ts'
import { connectDocker } from '../../src/docker/index.ts'
import type { Docker } from '../../src/docker/index.ts'
import { Failure } from '../../src/platform/errors.ts'
import { waitingForResponse } from '../../src/runtime/steps/gate.ts'
import { insertRelease, updateInstance } from '../../src/runtime/store.ts'
import { updateProject } from '../../src/projects/store.ts'
import { testApp, withAda } from '../support/app.ts'
import {
  aBuild,
  aCommand,
  anApp,
  aProject,
  finished,
  leftJob,
  logOf,
  untilAnswers,
  withContainer,
} from './apps.ts'
import { aWayToTheEngine } from './engine.ts'
import { logs, pathOf } from './events.ts'

/** The whole product, whose way to the engine can be cut. */
async function cuttableApp() {
  const way = await aWayToTheEngine()
  onTestFinished(() => way.cut())
  const t = testApp({}, { docker: connectDocker({ host: way.host }) })
  return { t, way, ada: t.logIn('ada@example.com') }
}

test('without an engine a deployment fails while building, and says what to do', async () => {
  const { t, way, ada } = await cuttableApp()
  const project = await aProject(t, ada, anApp('x'))
  way.cut()
  const { status, error } = await project.deploy()
  expect(status).toBe('failed')
  expect(error).toMatchObject({ step: 'building', code: 'engine_unreachable' })
  expect(error.hint).toContain('DOCKER_HOST')
})

test('an engine that goes away during a build fails it', async () => {
  const { t, way, ada } = await cuttableApp()
  const project = await aProject(t, ada, aBuild('sleep 3333'))
  const deployment = await project.trigger()
  await logs(ada, deployment, 'RUN')
  way.cut()
  const { error } = await finished(ada, deployment)
  expect(error).toMatchObject({ step: 'building', code: 'engine_unreachable' })
})

test('an engine that goes away at the gate and comes back has the old container serve again', async () => {
  const { t, way, ada } = await cuttableApp()
  const project = await aProject(t, ada, anApp('first'))
  const first = await project.deploy()
  project.repository.commit(aCommand('sleep 999'))
  const second = await project.trigger()
  await logs(ada, second, waitingForResponse)

  way.cut()
  await Bun.sleep(300)
  expect((await ada.get(pathOf(second))).json.status).toBe('deploying')
  await way.mend()
  const { error } = await finished(ada, second)

  expect(error).toMatchObject({ step: 'deploying', code: 'engine_unreachable' })
  expect(await logOf(ada, second)).toContain('The previous container serves again.')
  await untilAnswers(first, 'first')
  const labels = [`davit.instance=${t.instanceId}`]
  const containers = await t.docker.listContainers({ labels, all: true })
  expect(containers.map(({ id }) => id)).toEqual([first.containerId])
})

test('recovery waits for the engine before it resumes a switch', async () => {
  const { t, way, ada } = await cuttableApp()
  const project = await aProject(t, ada, anApp('x'), { port: 0 })
  const first = await project.deploy()
  await t.jobs.idle()
  const crashed = { status: 'deploying', finishedAt: null } as const
  updateDeployment(t.db, first.id, crashed)
  leftJob(t, first, { attempt: 1 })
  way.cut()

  const recovered = recover(t.deps, { signal: new AbortController().signal })
  const newer = await project.trigger() // behind it, until it is taken up
  await Bun.sleep(200)
  const statusOf = async ({ id }: { id: string }) =>
    (await ada.get(pathOf({ projectId: project.id, id }))).json.status
  expect([await statusOf(first), await statusOf(newer)]).toEqual(['deploying', 'pending'])
  await way.mend()
  await recovered

  expect(await statusOf(first)).toBe('superseded')
  expect((await finished(ada, newer)).status).toBe('running')
})

test('recovery goes on when the engine fails a call, and begins again when it goes away', async () => {
  const { t, ada } = withAda(testApp())
  const { id: projectId, environmentId } = await aProject(t, ada, anApp('x'))
  const going = await aProject(t, ada, anApp('x'), { name: 'going' })
  updateProject(t.db, going.id, { deletingAt: new Date() })
  const known = { projectId, environmentId, repositoryUrl: 'file:///srv/x.git' }
  const asked = { trigger: 'manual', triggeredBy: 'ada@example.com' } as const
  const ran = insertDeployment(t.db, { ...known, ...asked, status: 'running' })
  withContainer(t.db, ran, 'current')
  const interrupted = insertDeployment(t.db, { ...known, ...asked, status: 'deploying' })
  leftJob(t, interrupted, { attempt: 2 })
  const workload = { id: environmentId, kind: 'app' } as const
  const slots = [{ component: 'web', slot: 0 }]
  const release = { workload, id: interrupted.id, components: null, slots }
  const [half] = insertRelease(t.db, release)
  updateInstance(t.db, half!.id, { containerId: 'half', state: 'starting' })
  const left = { id: 'left', serverId: t.docker.serverId, labels: {} }
  const refused = (call: string) => () => {
    called.push(call)
    return Promise.reject(new Failure('engine_timeout', 'It is silent.', 'Wait.'))
  }
  const called: string[] = []
  let isAway = true
  const listContainers = async () => {
    if (!isAway) return [left]
    isAway = false
    throw new Failure('engine_unreachable', 'It is away.', 'Start it.')
  }
  Object.assign(t.faults, {
    listContainers: listContainers as unknown as Docker['listContainers'],
    removeContainer: refused('remove'),
    startContainer: refused('start'),
    inspectContainer: refused('inspect'),
  })
  await recover(t.deps, { signal: new AbortController().signal })
  // the last is the deletion that was broken off
  expect(called).toEqual(['remove', 'inspect', 'start', 'remove', 'inspect', 'remove'])
  expect((await ada.get(pathOf({ projectId, id: interrupted.id }))).json).toMatchObject({
    status: 'failed',
    error: { code: 'interrupted' },
  })
})
