import { expect, spyOn, test } from 'bun:test'
import { listSought, noteAway, noteWhatRan } from '../../src/db/restored.ts'
import { insertRelease } from '../../src/runtime/store.ts'
import { anApp, aProject } from '../deployments/apps.ts'
import { idle, made } from '../services/instances.ts'
import { simulatedApp } from '../support/app.ts'
import type { TestApp } from '../support/app.ts'
import { until } from '../support/until.ts'

function anAdmin() {
  const t = simulatedApp({}, { config: { acceptTimeout: 50 } })
  return { t, ada: t.logInAsAdmin('ada@example.com') }
}

async function anApplication() {
  const { t, ada } = anAdmin()
  const project = await aProject(t, ada, anApp('x'))
  await project.deploy()
  await t.jobs.idle()
  const { environmentId: id, id: projectId } = project
  const workload = { kind: 'app', id, projectId, ownerId: ada.user.id } as const
  return {
    t,
    ada,
    workload,
    path: `/envs/${id}`,
    cancel: `/settings/activity/environments/${id}/cancel`,
  }
}

async function aService() {
  const { t, ada } = anAdmin()
  const { id } = await made(t, ada, `services: {a: {${idle}}}`)
  const path = `/services/${id}`
  return { t, ada, workload: { id }, path, cancel: `${path}/cancel` }
}

type Scene = Pick<Awaited<ReturnType<typeof aService>>, 't' | 'ada' | 'path' | 'cancel'>

/** Restarts it, and cancels that when it has stopped the container. */
async function cancelOnce({ t, ada, path, cancel }: Scene, { begun = async () => {} } = {}) {
  const { promise: isCancelled, resolve: goOn } = Promise.withResolvers<void>()
  const { promise: isStopped, resolve: stopped } = Promise.withResolvers<void>()
  t.faults.stopContainer = async (...args) => {
    const done = await t.docker.stopContainer(...args)
    stopped()
    await isCancelled
    return done
  }
  await ada.post(`${path}/restart`)
  await begun()
  await isStopped
  expect(statesOf(t)).toEqual(['exited'])
  await ada.post(cancel)
  goOn()
  await t.jobs.idle()
}

const statesOf = ({ engine }: TestApp) => [...engine.containers.values()].map(({ state }) => state)

test.each([
  ['an app', anApplication],
  ['a service', aService],
])(
  'what ran of %s runs again when a restart is cancelled that waited for a backup',
  async (_, make) => {
    const scene = await make()
    const { locks } = scene.t
    const { promise, resolve: release } = Promise.withResolvers<void>()
    void locks.hold(scene.workload, new AbortController().signal, () => promise)
    const rollOut = spyOn(locks, 'rollOut')
    const begun = async () => {
      await until(() => rollOut.mock.calls.length > 0)
      release()
    }
    await cancelOnce(scene, { begun })
    expect(statesOf(scene.t)).toEqual(['running'])
  },
)

test('what ran runs again when a restart is cancelled of a restored app that waits for its server', async () => {
  const scene = await anApplication()
  const { t, workload } = scene
  noteWhatRan(t.db)
  noteAway(t.db, listSought(t.db, 'app')[0]!.id)
  insertRelease(t.db, { workload, id: 'interrupted', components: null, slots: [] })
  await cancelOnce(scene)
  expect(statesOf(t)).toEqual(['running'])
})
