import { expect, onTestFinished } from 'bun:test'
import { endWorkOfThen, listSought, noteWhatRan } from '../../src/db/restored.ts'
import type { Docker } from '../../src/docker/index.ts'
import { observe } from '../../src/deployments/observe.ts'
import { getCurrent } from '../../src/deployments/store.ts'
import { listJobIds } from '../../src/jobs/store.ts'
import { listLiveInstances } from '../../src/runtime/store.ts'
import { resume } from '../../src/serve.ts'
import { atOnce, realClock } from '../interleavings/engine/at-once.ts'
import { fakeDocker } from '../interleavings/engine/docker.ts'
import { FakeEngine } from '../interleavings/engine/engine.ts'
import { simulatedApp, withAda } from '../support/app.ts'
import type { TestApp } from '../support/app.ts'
import { copiesOf } from '../support/databases.ts'
import { until } from '../support/until.ts'
import { anApp, aProject, finished } from './apps.ts'

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
export async function anEnvironment({ isStack = false } = {}) {
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
export function aNewEngine() {
  const nothing = { containers: [], networks: [], volumes: [], images: [] }
  return new FakeEngine(realClock, { ...nothing, made: 1000 })
}

export type Scene = Awaited<ReturnType<typeof anEnvironment>>
export type Moment = 'queued' | 'building' | 'creating' | 'starting'

const calls = {
  building: 'buildImage',
  creating: 'createContainer',
  starting: 'startContainer',
} as const

type Call = (...args: unknown[]) => unknown

/** Deploys, and backs Davit up while that is at the moment. */
export async function deployMeanwhile({ t, ada, project, backUp }: Scene, moment: Moment) {
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

export const moments: Moment[] = ['queued', 'building', 'creating', 'starting']
export const before = ['running', 'stopped', 'never deployed'] as const

export async function deployFirst(scene: Scene, state: (typeof before)[number]) {
  if (state === 'never deployed') return
  expect(await scene.project.deploy()).toMatchObject({ status: 'running' })
  scene.commit('two')
  await scene.t.jobs.idle()
  if (state === 'stopped') await scene.stop()
}

/** That version is live with what runs, of which nothing was touched. */
export async function expectLive(
  scene: Scene,
  deployment: { id: string; url: string },
  options: Parameters<Scene['restore']>[0] = {},
) {
  await scene.t.jobs.idle()
  const up = scene.listUp()
  const { current, live } = await scene.restore(options)
  const { id, url } = deployment
  expect(current).toMatchObject({ id, url, status: 'running', errorCode: null })
  expect(scene.listUp()).toEqual(up)
  expect(live.toSorted()).toEqual(up.toSorted())
}
