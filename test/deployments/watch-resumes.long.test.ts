import { expect, spyOn, test } from 'bun:test'
import { getDeployment } from '../../src/environments/store.ts'
import { Watches } from '../../src/deployments/watch/watches.ts'
import { updateDeployment } from '../../src/deployments/store.ts'
import { until } from '../support/until.ts'
import { anApp } from './apps.ts'
import { sharedEdge } from './edge-app.ts'

const { t, aSite } = await sharedEdge()

/** Two versions, of which the second one is watched by a process that is over. */
async function interrupted() {
  const { host, project } = await aSite(anApp('first'), { watchSeconds: 600 })
  const first = await project.deploy()
  const second = await project.deployFiles(anApp('second'))
  await t.watches.stop()
  expect(await t.text(host)).toBe('second')
  const next = new Watches(t.deps)
  Object.assign(t.watches, { begin: next.begin.bind(next), end: next.end.bind(next) })
  return { host, first, second, next, stored: () => getDeployment(t.db, second.id)! }
}

test('a decision that a killed process had stored is carried out by the next one', async () => {
  const { host, first, second, next, stored } = await interrupted()
  const verdict = { code: 'crashed_after_switch', message: 'It crashed.', hint: 'Fix it.' }
  updateDeployment(t.db, second.id, { watch: { ...stored().watch!, verdict } })
  next.resume()
  await until(() => stored().status === 'failed')
  expect(await t.text(host)).toBe('first')
  expect(getDeployment(t.db, first.id)?.status).toBe('running')
  await next.stop()
})

test('a crash while Davit was down sends requests back, and a time that is over ends the watch', async () => {
  const { host, second, next, stored } = await interrupted()
  const command = ['kill', '-9', '-1']
  await t.docker.runInContainer(second.containerId, { command }).catch(() => {})
  await until(async () => (await t.docker.inspectContainer(second.containerId))!.restartCount > 0)
  next.resume()
  await until(() => stored().watch?.end === 'reverted')
  expect(stored()).toMatchObject({ status: 'failed', errorCode: 'crashed_after_switch' })
  expect(await t.text(host)).toBe('first')

  const over = await interrupted()
  updateDeployment(t.db, over.second.id, { watchUntil: new Date(Date.now() - 3_600_000) })
  over.next.resume()
  await until(() => over.stored().watch?.end === 'over')
  expect(over.stored().status).toBe('running')
  await Promise.all([next.stop(), over.next.stop()])
})

test('a clock that is put forward doesn’t end a watch, but moves its end', async () => {
  const { next, stored } = await interrupted()
  const looks = spyOn(t.deps.watched, 'estimatedOf')
  next.resume()
  await until(() => looks.mock.calls.length > 0)
  const before = stored().watchUntil!.getTime()
  const now = Date.now
  Date.now = () => now() + 7_200_000
  try {
    await until(() => stored().watchUntil!.getTime() - before > 7_000_000)
    expect(stored().watch?.end).toBeNull()
  } finally {
    Date.now = now
    await next.stop()
  }
})
