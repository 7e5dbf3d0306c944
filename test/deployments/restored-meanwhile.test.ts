import { expect, test } from 'bun:test'
import { getStatus } from '../../src/deployments/store.ts'
import { insertWaiting } from '../../src/deployments/waiting-store.ts'
import { Failure } from '../../src/platform/errors.ts'
import { finished, rollBack } from './apps.ts'
import {
  aNewEngine,
  anEnvironment,
  before,
  deployFirst,
  deployMeanwhile,
  expectLive,
  moments,
} from './restoring.ts'

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
