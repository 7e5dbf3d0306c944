import { expect, onTestFinished, test } from 'bun:test'
import { insertDeployment } from '../../src/deployments/store.ts'
import { apps } from '../../src/deployments/observe.ts'
import { watchWorkloads } from '../../src/runtime/observe.ts'
import { Failure } from '../../src/platform/errors.ts'
import { resync } from '../../src/live/hub.ts'
import { waitingForResponse } from '../../src/runtime/steps/gate.ts'
import { simulatedApp, testApp, withAda } from '../support/app.ts'
import type { TestApp } from '../support/app.ts'
import { aBuild, aCommand, anApp, aProject, finished, logOf, withContainer } from './apps.ts'
import { logs, pathOf } from './events.ts'

function watch(t: TestApp) {
  const abort = new AbortController()
  const { signal } = abort
  const work = [watchWorkloads(t.deps, apps, { signal }), t.feed.run(t.deps.docker, { signal })]
  const end = async () => {
    abort.abort()
    await Promise.all(work)
  }
  onTestFinished(end)
  return end
}

/** The next state that is published for a deployment, once what is done has been done. */
async function nextStatus(t: TestApp, { id }: { id: string }, act: () => Promise<unknown>) {
  const abort = new AbortController()
  const events = t.logs.subscribe(id, abort.signal)[Symbol.asyncIterator]()
  const next = events.next()
  await act()
  const { value } = await next
  abort.abort()
  return value === resync || !('status' in value!) ? undefined : value.status
}

test('a deployment is stopped when its container is, by whomever, and runs again when that does', async () => {
  const { t, ada } = withAda(simulatedApp())
  const project = await aProject(t, ada, anApp('x'))
  const deployment = await project.deploy()
  await t.jobs.idle()
  const unwatch = watch(t)
  const { containerId: id } = deployment

  expect(await nextStatus(t, deployment, () => t.docker.stopContainer(id))).toBe('stopped')
  expect((await ada.get(pathOf(deployment))).json.status).toBe('stopped')
  expect(await nextStatus(t, deployment, () => t.docker.startContainer(id))).toBe('running')

  await unwatch()
  await t.docker.stopContainer(id) // while nobody looks
  expect(await nextStatus(t, deployment, async () => void watch(t))).toBe('stopped')
  await t.docker.startContainer(id)
  const remove = () => t.docker.removeContainer(id, { force: true })
  await nextStatus(t, deployment, async () => {})
  expect(await nextStatus(t, deployment, remove)).toBe('stopped')
})

test('what a user stops while a deployment is at work stays stopped when that fails', async () => {
  const { t, ada } = withAda(testApp())
  const project = await aProject(t, ada, anApp('x'), { healthTimeout: 1 })
  const first = await project.deploy()
  await t.jobs.idle()
  watch(t)
  project.repository.commit(aBuild('sleep 1'))
  const second = await project.trigger()
  await logs(ada, second, 'RUN')

  const stop = () => t.docker.stopContainer(first.containerId)
  expect(await nextStatus(t, first, stop)).toBe('stopped')
  expect((await finished(ada, second)).status).toBe('failed')
  await t.jobs.idle()

  expect((await ada.get(pathOf(first))).json.status).toBe('stopped')
  expect(await t.docker.inspectContainer(first.containerId)).toMatchObject({ state: 'exited' })
})

test('an app that could not be started again is not said to run', async () => {
  const { t, ada } = withAda(testApp())
  const project = await aProject(t, ada, anApp('x'), { healthTimeout: 1 })
  const first = await project.deploy()
  project.repository.commit(aCommand('sleep 99'))
  const second = await project.trigger()
  await logs(ada, second, waitingForResponse)
  await t.docker.removeContainer(first.containerId, { force: true })

  const { status, error } = await finished(ada, second)
  await t.jobs.idle()

  expect(status).toBe('failed')
  expect(error).toMatchObject({ code: 'no_answer' })
  expect(error.message).toContain('The previous container did not start again')
  expect((await ada.get(pathOf(first))).json.status).toBe('stopped')
  expect((await logOf(ada, second)).join('\n')).toContain('did not start again')
})

test('what could not be looked at is looked at again', async () => {
  const { t, ada } = withAda(simulatedApp())
  const { id: projectId, environmentId } = await aProject(t, ada, anApp('x'))
  const deployment = insertDeployment(t.db, {
    projectId,
    environmentId,
    status: 'running',
    trigger: 'manual',
    triggeredBy: 'ada@example.com',
    repositoryUrl: 'file:///srv/x.git',
  })
  withContainer(t.db, deployment, 'none')
  let looks = 0
  t.faults.inspectContainer = async () => {
    if (++looks === 1) throw new Failure('engine_timeout', 'No answer.', 'Wait.')
    return null
  }

  expect(await nextStatus(t, deployment, async () => void watch(t))).toBe('stopped')
})
