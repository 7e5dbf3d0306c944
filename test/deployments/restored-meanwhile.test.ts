import { expect, onTestFinished, test } from 'bun:test'
import { endWorkOfThen, listSought, noteWhatRan } from '../../src/db/restored.ts'
import type { Docker } from '../../src/docker/index.ts'
import { observe } from '../../src/deployments/observe.ts'
import { getCurrent, getStatus } from '../../src/deployments/store.ts'
import { insertWaiting } from '../../src/deployments/waiting-store.ts'
import { listJobIds } from '../../src/jobs/store.ts'
import { listLiveInstances } from '../../src/runtime/store.ts'
import { resume } from '../../src/serve.ts'
import { atOnce, realClock } from '../interleavings/engine/at-once.ts'
import { fakeDocker } from '../interleavings/engine/docker.ts'
import { FakeEngine } from '../interleavings/engine/engine.ts'
import { Failure } from '../../src/platform/errors.ts'
import { simulatedApp, withAda } from '../support/app.ts'
import type { TestApp } from '../support/app.ts'
import { copiesOf } from '../support/databases.ts'
import { until } from '../support/until.ts'
import { anApp, aProject, finished, rollBack } from './apps.ts'

const signal = new AbortController().signal

const stack = (text: string) => ({
  'web/Dockerfile': 'FROM busybox\nCOPY . /www\n',
  'web/index.html': text,
  'compose.yaml': `services:
  web: {build: ./web, ports: ["8080"], depends_on: [db]}
  db: {image: postgres:17, volumes: ["data:/data"]}
volumes: {data: {}}
`,
})

/** An app, simple or of a Compose file, whose Davit is restored while its engine has gone on since the backup. */
async function anEnvironment({ isStack = false } = {}) {
  const { t, ada } = withAda(simulatedApp())
  const files = isStack ? stack : anApp
  const project = await aProject(t, ada, files('one'))
  if (isStack) await ada.put(`/projects/${project.id}/settings`, { composeFile: 'compose.yaml' })
  let backup: ReturnType<typeof copiesOf> | undefined
  const listUp = () =>
    [...t.engine.containers.values()].filter(({ state }) => state === 'running').map(({ id }) => id)
  return {
    ...{ t, ada, project, listUp },
    commit: (text: string) => project.repository.commit(files(text)),
    backUp: () => (backup = copiesOf(t.deps)),
    stop: async () => {
      await ada.post(`/envs/${project.environmentId}/stop`)
      await t.jobs.idle()
    },
    /** The whole start of a Davit on the database of then. */
    async restore({
      isMove = false,
      engine = t.engine,
      prepare = () => {},
    }: {
      isMove?: boolean
      engine?: FakeEngine
      prepare?: (next: TestApp, docker: Docker) => void
    } = {}) {
      await t.jobs.idle()
      await Promise.all([t.jobs.stop(), t.instanceTasks.stop(), t.watches.stop()])
      endWorkOfThen(backup!.db, { isMove })
      noteWhatRan(backup!.db)
      const docker = fakeDocker(engine, atOnce)
      const next = simulatedApp({}, { ...backup!, docker })
      prepare(next, docker)
      const stop = new AbortController()
      const background = resume(next.deps, { signal: stop.signal })
      onTestFinished(async () => {
        stop.abort()
        await Promise.allSettled(background)
      })
      await until(() => listSought(next.db, 'app').length === 0)
      await next.jobs.idle()
      await observe(next.deps, project.environmentId, { orphans: true, signal })
      expect(listJobIds(next.db, { subjectIds: [project.environmentId] })).toEqual([])
      return {
        next,
        current: getCurrent(next.db, project.environmentId),
        live: listLiveInstances(next.db, project.environmentId)
          .filter(({ state }) => state === 'live')
          .map(({ containerId }) => containerId!),
      }
    },
  }
}

/** Its ids are others than those of the first one. */
function aNewEngine() {
  const nothing = { containers: [], networks: [], volumes: [], images: [] }
  return new FakeEngine(realClock, { ...nothing, made: 1000 })
}

type Scene = Awaited<ReturnType<typeof anEnvironment>>
type Moment = 'queued' | 'building' | 'creating' | 'starting'

const calls = {
  building: 'buildImage',
  creating: 'createContainer',
  starting: 'startContainer',
} as const

type Call = (...args: unknown[]) => unknown

/** Deploys, and backs Davit up while that is at the moment. */
async function deployMeanwhile({ t, ada, project, backUp }: Scene, moment: Moment) {
  const { jobs } = t
  if (moment === 'queued') {
    const wake = jobs.wake.bind(jobs)
    jobs.wake = () => {}
    const queued = await project.trigger()
    backUp()
    jobs.wake = wake
    wake()
    return finished(ada, queued)
  }
  const name = calls[moment]
  const faults = t.faults as Record<string, Call>
  const docker = t.docker as unknown as Record<string, Call>
  faults[name] = (...args) => {
    delete faults[name]
    backUp()
    return docker[name]!(...args)
  }
  return project.deploy()
}

const moments: Moment[] = ['queued', 'building', 'creating', 'starting']
const before = ['running', 'stopped', 'never deployed'] as const

async function deployFirst(scene: Scene, state: (typeof before)[number]) {
  if (state === 'never deployed') return
  expect(await scene.project.deploy()).toMatchObject({ status: 'running' })
  scene.commit('two')
  await scene.t.jobs.idle()
  if (state === 'stopped') await scene.stop()
}

/** That version is live with what runs, of which nothing was touched. */
async function expectLive(scene: Scene, deployment: { id: string; url: string }) {
  await scene.t.jobs.idle()
  const up = scene.listUp()
  const { current, live } = await scene.restore()
  const { id, url } = deployment
  expect(current).toMatchObject({ id, url, status: 'running', errorCode: null })
  expect(scene.listUp()).toEqual(up)
  expect(live.toSorted()).toEqual(up.toSorted())
}

for (const isStack of [false, true])
  for (const state of before)
    test.each(moments)(
      `a deployment that was %s when Davit was backed up, and went live since, is the live one of ${isStack ? 'a stack' : 'an app'} that was ${state}`,
      async (moment) => {
        const scene = await anEnvironment({ isStack })
        await deployFirst(scene, state)
        const meanwhile = await deployMeanwhile(scene, moment)
        expect(meanwhile.status).toBe('running')
        await scene.t.jobs.idle()
        // what it replaced is kept, stopped, and a stack's database goes on
        const all = {
          running: isStack ? 3 : 2,
          stopped: isStack ? 4 : 2,
          'never deployed': isStack ? 2 : 1,
        }
        expect([scene.t.engine.containers.size, scene.listUp().length]).toEqual([
          all[state],
          isStack ? 2 : 1,
        ])
        await expectLive(scene, meanwhile)
      },
    )

for (const isStack of [false, true])
  test(`what was deployed since the backup is the live one of ${isStack ? 'a stack' : 'an app'} that ran or was stopped`, async () => {
    for (const state of ['running', 'stopped'] as const) {
      const scene = await anEnvironment({ isStack })
      await deployFirst(scene, state)
      scene.backUp()
      await expectLive(scene, await scene.project.deploy())
    }
  })

test('a version that was rolled back to since the backup, with what was kept of it, is the live one', async () => {
  const scene = await anEnvironment()
  const first = await scene.project.deploy()
  await deployFirst(scene, 'running')
  scene.backUp()
  const back = await finished(scene.ada, (await rollBack(scene.ada, first)).json)
  expect(back).toMatchObject({ status: 'running', containerId: first.containerId })
  await expectLive(scene, first)
})

test.each(moments)(
  'a deployment that was %s when Davit was backed up, and failed since, leaves the live one as it is',
  async (moment) => {
    const scene = await anEnvironment()
    const first = await scene.project.deploy()
    scene.t.faults.setRestartPolicy = async () => {
      throw new Failure('engine_unreachable', 'It is away.', '')
    }
    const meanwhile = await deployMeanwhile(scene, moment)
    expect(meanwhile.status).toBe('failed')
    delete scene.t.faults.setRestartPolicy
    await expectLive(scene, first)
  },
)

test('a roll-out that ended with the server is undone: the version that it had stopped runs', async () => {
  const scene = await anEnvironment()
  const first = await scene.project.deploy()
  scene.t.faults.setRestartPolicy = async () => {
    throw new Failure('engine_unreachable', 'It is away.', '')
  }
  await deployMeanwhile(scene, 'starting')
  delete scene.t.faults.setRestartPolicy
  await scene.t.docker.stopContainer(first.containerId)
  const { current, live } = await scene.restore()
  expect(current).toMatchObject({ id: first.id, status: 'running' })
  expect(live).toEqual([first.containerId])
  expect(scene.listUp()).toEqual(live)
})

test('an app that was stopped when Davit was backed up, and has not run since, stays so', async () => {
  const scene = await anEnvironment()
  await deployFirst(scene, 'stopped')
  scene.backUp()
  const { current } = await scene.restore()
  expect(current!.status).toBe('stopped')
  expect(scene.listUp()).toEqual([])
})

test.each([
  ['goes live', false],
  ['fails', true],
])('where what was queued on a server that was moved %s, the app runs', async (_, fails) => {
  const scene = await anEnvironment()
  await deployFirst(scene, 'running')
  const queued = await deployMeanwhile(scene, 'queued')
  const engine = aNewEngine()
  let clones = 0
  const { current, live } = await scene.restore({
    isMove: true,
    engine,
    prepare({ git }) {
      const { fetch } = git
      git.fetch = async (...args) => {
        if (fails && ++clones === 1) throw new Failure('clone_failed', 'No.', '')
        return fetch(...args)
      }
    },
  })
  expect(current).toMatchObject({ status: 'running' })
  expect(current!.id === queued.id).toBe(!fails)
  expect(live.map((id) => engine.containers.get(id)?.state)).toEqual(['running'])
})

test('what waits for the end of a freeze waits on while what ran is deployed again on a new server', async () => {
  const scene = await anEnvironment()
  const { t, ada, project } = scene
  const first = await project.deploy()
  await t.jobs.idle()
  const freeze = { reason: 'the fair', until: new Date(Date.now() + 3_600_000).toISOString() }
  const values = { projectId: project.id, environmentId: project.environmentId, repositoryUrl: '' }
  const held = insertWaiting(t.db, {
    ...{ ...values, ownerId: ada.user.id, trigger: 'webhook', triggeredBy: ada.user.email },
    freeze: { ...freeze, note: null },
  })
  scene.backUp()
  const { current, next } = await scene.restore({ engine: aNewEngine() })
  expect(current).toMatchObject({ status: 'running', commitHash: first.commit.hash })
  expect(getStatus(next.db, held.id)).toBe('waiting')
})
