import { expect, test } from 'bun:test'
import { endWorkOfThen, isAppAway, listSought, noteWhatRan } from '../../src/db/restored.ts'
import {
  reconcileAfterRestore,
  reconcileReturning,
} from '../../src/deployments/reconcile-after-restore.ts'
import { cancelDeployment } from '../../src/deployments/cancel.ts'
import { giveUpServer, observe } from '../../src/deployments/observe.ts'
import { recover } from '../../src/deployments/recover.ts'
import { getCurrent, getJob } from '../../src/deployments/store.ts'
import { reused } from '../../src/deployments/trigger.ts'
import { insertWaiting } from '../../src/deployments/waiting-store.ts'
import { listInstances, listLiveInstances, updateInstance } from '../../src/runtime/store.ts'
import type { Instance } from '../../src/runtime/store.ts'
import { atOnce } from '../interleavings/engine/at-once.ts'
import { fakeDocker } from '../interleavings/engine/docker.ts'
import type { FakeEngine } from '../interleavings/engine/engine.ts'
import { copiesOf } from '../support/databases.ts'
import { simulatedApp, wrapped } from '../support/app.ts'
import type { TestApp } from '../support/app.ts'
import { serverId, storeServers } from '../support/servers.ts'
import { until } from '../support/until.ts'
import { finished, rollBack } from './apps.ts'
import { aNewEngine, anEnvironment, deployFirst, deployMeanwhile, expectLive } from './restoring.ts'
import type { Scene } from './restoring.ts'

const signal = new AbortController().signal
const other = serverId(2)

/** Puts what the database has of the environment, or a part of it, onto another server. */
function moveThere({ db }: TestApp, { project }: Scene, isIt = (_: Instance) => true) {
  storeServers(db, [{}, {}])
  for (const one of listInstances(db, project.environmentId).filter(isIt))
    updateInstance(db, one.id, { serverId: other })
}

test.each(['creating', 'starting'] as const)(
  'a deployment that was %s when Davit was backed up, and went live since on a server that is reached after the start, is the live one',
  async (moment) => {
    const scene = await anEnvironment()
    await deployFirst(scene, 'running')
    const meanwhile = await deployMeanwhile(scene, moment)
    await expectLive(scene, meanwhile, {
      engine: aNewEngine(),
      prepare(next) {
        moveThere(next, scene)
        scene.t.engine.serverId = other
        const isAway = () => isAppAway(next.db, scene.project.environmentId)
        const there = wrapped(fakeDocker(scene.t.engine, atOnce), (name, call) =>
          name !== 'events'
            ? call
            : async function* (...args: unknown[]) {
                await until(isAway)
                yield* call(...args) as AsyncIterable<unknown>
              },
        )
        next.engines.add(there)
      },
    })
  },
)

type Looked = {
  backup: ReturnType<Scene['backUp']>
  /** The engines of Davit’s own server, and of the other one, which is away. */
  own: FakeEngine
  there: FakeEngine
  isThere?: (one: Instance) => boolean
}

/** A Davit on the database of then, which has looked for its only app, and has observed it since. */
async function looked(scene: Scene, { backup, own, there, isThere }: Looked) {
  const { t, project } = scene
  const { environmentId: id } = project
  await t.jobs.idle()
  await Promise.all([t.jobs.stop(), t.instanceTasks.stop(), t.watches.stop()])
  endWorkOfThen(backup.db)
  noteWhatRan(backup.db)
  const next = simulatedApp({}, { ...backup, docker: fakeDocker(own, atOnce) })
  moveThere(next, scene, isThere)
  there.serverId = other
  next.engines.add(fakeDocker(there, atOnce))
  await reconcileAfterRestore(next.deps, { signal })
  const look = () => observe(next.deps, id, { orphans: true, signal })
  await look()
  expect(isAppAway(next.db, id)).toBe(true)
  return {
    next,
    look,
    find: () => find(next, id),
  }
}

/** Once that server is back, or was removed. */
async function find({ db, deps, instanceTasks }: TestApp, id: string) {
  const look = () => observe(deps, id, { orphans: true, signal })
  await look() // its events may be sooner
  await reconcileReturning(deps, { kind: 'app', signal })
  expect(listSought(db, 'app')).toEqual([])
  await look()
  await instanceTasks.idle()
  const up = listLiveInstances(db, id).filter(({ state }) => state === 'live')
  return {
    current: getCurrent(db, id),
    live: up.map(({ containerId }) => containerId!).toSorted(),
  }
}

const processes = [{ name: 'web' }, { name: 'worker', command: ['sleep', '9999'] }]

test.each([
  ['was deployed', 'an app', ({ project }: Scene) => project.deploy()],
  ['was deployed', 'a stack', ({ project }: Scene) => project.deploy()],
  [
    'has other processes',
    'an app',
    async ({ project }: Scene) => {
      await project.configure({ processes: processes.slice(1) })
      return project.deploy()
    },
  ],
  [
    'was rolled back to',
    'an app',
    async ({ ada }: Scene, first: Awaited<ReturnType<Scene['project']['deploy']>>) => {
      await finished(ada, (await rollBack(ada, first)).json)
      return first
    },
  ],
] as const)(
  'on a server that comes back, what %s since is the live version of %s',
  async (_, what, change) => {
    const scene = await anEnvironment({ isStack: what === 'a stack' })
    const first = await scene.project.deploy()
    await deployFirst(scene, 'running')
    const backup = scene.backUp()
    scene.commit('three')
    const { id } = await change(scene, first)
    await scene.t.jobs.idle()
    const up = scene.listUp().toSorted()
    const { next, find } = await looked(scene, { backup, own: aNewEngine(), there: scene.t.engine })
    next.engines.setAway({ serverId: other }, false)
    const { current, live } = await find()
    expect(current).toMatchObject({ id, status: 'running' })
    expect([live, scene.listUp().toSorted()]).toEqual([up, up])
  },
)

/** A web, and a worker on another server, which is lost. */
async function lost({ isDeployedSince }: { isDeployedSince: boolean }) {
  const scene = await anEnvironment()
  const { t, project } = scene
  await project.configure({ processes })
  const first = await project.deploy()
  const backup = scene.backUp()
  scene.commit('two')
  const { id } = isDeployedSince ? await project.deploy() : first
  const isThere = ({ component }: Instance) => component === 'worker'
  for (const { containerId } of listInstances(t.db, project.environmentId).filter(isThere))
    await t.docker.removeContainer(containerId!, { force: true })
  const davit = await looked(scene, { backup, own: t.engine, there: aNewEngine(), isThere })
  const { next } = davit
  return {
    ...{ ...davit, scene, id },
    giveUp() {
      giveUpServer(next.deps, other)
      next.serverEngines.remove({ id: other })
    },
  }
}

test.each([
  ['was deployed since', true],
  ['was not deployed since', false],
])('once a server with a part of it was given up, what %s is the live version', async (_, is) => {
  const { id, giveUp, find, scene } = await lost({ isDeployedSince: is })
  giveUp()
  const { current, live } = await find()
  expect(current).toMatchObject({ id, status: 'running' })
  expect(live).toEqual(scene.listUp())
})

test('an observation that began before it was found changes nothing of what was replaced', async () => {
  const { id, next, look, scene } = await lost({ isDeployedSince: true })
  let found: Promise<void> | undefined
  next.faults.inspectContainer = async (...args) => {
    delete next.faults.inspectContainer
    const container = await next.docker.inspectContainer(...args)
    next.engines.setAway({ serverId: other }, false)
    found = reconcileReturning(next.deps, { kind: 'app', signal })
    await until(() => listSought(next.db, 'app').length === 0)
    return container
  }
  await look()
  await found
  const live = listLiveInstances(next.db, scene.project.environmentId)
  expect(live.map(({ releaseId, state }) => [releaseId, state])).toEqual([[id, 'live']])
})

test('what goes live meanwhile ends the search for what ran before', async () => {
  const { id, next, scene } = await lost({ isDeployedSince: false })
  await deployAgain(next, id)
  const { environmentId } = scene.project
  expect(getCurrent(next.db, environmentId)).toMatchObject({ status: 'running', imageOf: id })
  expect(listSought(next.db, 'app')).toEqual([])
})

async function deployAgain({ db, jobs }: TestApp, id: string) {
  const { deployment, project } = getJob(db, id)!
  const { projectId, environmentId } = deployment
  const added = insertWaiting(db, {
    ...{ ownerId: project.ownerId, projectId, environmentId, ...reused(deployment) },
    ...{ trigger: 'manual', triggeredBy: 'ada@example.com' },
  })
  jobs.wake()
  await jobs.idle()
  return added
}

test('once that server is back, what was killed while it replaced the other part, and then cancelled, is undone', async () => {
  const scene = await anEnvironment()
  const { t, project } = scene
  const id = project.environmentId
  await project.configure({ processes })
  const first = await project.deploy()
  const up = scene.listUp().toSorted()
  const isThere = ({ component }: Instance) => component === 'worker'
  const there = aNewEngine()
  for (const { containerId } of listInstances(t.db, id).filter(isThere)) {
    there.containers.set(containerId!, t.engine.containers.get(containerId!)!)
    t.engine.containers.delete(containerId!)
  }
  const { next } = await looked(scene, { backup: scene.backUp(), own: t.engine, there, isThere })
  let left: ReturnType<typeof copiesOf> | undefined
  const dead = () => Promise.reject(new Error('Davit was killed'))
  next.faults.startContainer = async (...args) => {
    if (scene.listUp().includes(up[0]!)) return t.docker.startContainer(...args)
    left = copiesOf(next.deps)
    await t.docker.startContainer(...args)
    const calls = ['startContainer', 'stopContainer', 'removeContainer'] as const
    for (const name of calls) next.faults[name] = dead
    return dead()
  }
  const deployment = await deployAgain(next, first.id)
  const started = simulatedApp({}, { ...left!, docker: t.docker, jobsWait: true })
  started.engines.add(fakeDocker(there, atOnce))
  started.engines.setAway({ serverId: other }, true)
  await recover(started.deps, { signal })
  await cancelDeployment(started.deps, { deployment, by: 'ada@example.com' })
  started.engines.setAway({ serverId: other }, false)
  const { current, live } = await find(started, id)
  expect(current).toMatchObject({ id: first.id, status: 'running' })
  expect([live, scene.listUp().length]).toEqual([up, 1])
})
