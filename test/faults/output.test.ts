import { expect, test } from 'bun:test'
import type { Docker } from '../../src/docker/index.ts'
import { Failure } from '../../src/platform/errors.ts'
import { Reader } from '../../src/logs/reader.ts'
import { ReadBatches } from '../../src/logs/read-batches.ts'
import { Semaphore } from '../../src/platform/semaphore.ts'
import { allLines, anEnvironment, collect, linesUntil, written } from '../logs/collecting.ts'
import { testApp, withAda } from '../support/app.ts'
import type { TestApp } from '../support/app.ts'
import { firstServer } from '../../src/platform/root.ts'

/** A reader that has been told something, and ends with the test's signal. */
function aReader(t: TestApp, stop: AbortController) {
  const unread = { timestamp: null, ordinal: 0, stream: null, endedAt: null }
  const of = { containerId: 'c', serverId: firstServer }
  const cursor = { ...of, sourceId: 's', deploymentId: '', name: 'app', ...unread }
  const reader = new Reader(t.deps, {
    cursor,
    isKnown: true,
    news: { kind: 'look' },
    readBatches: new ReadBatches(t.deps, { sourceId: 's', logId: '' }),
    pulls: new Semaphore(1),
    signal: stop.signal,
  })
  reader.tell({ kind: 'ended', at: new Date(), exitCode: 0, isAsked: false })
  return reader
}

test('what was heard last before the engine went away does not have it asked without a rest', async () => {
  const t = testApp()
  let asked = 0
  const inspectContainer = () => {
    asked++
    return Promise.reject(new Failure('engine_unreachable', 'It is away.', 'Start it.'))
  }
  t.faults.inspectContainer = inspectContainer as unknown as Docker['inspectContainer']
  const stop = new AbortController()
  const reader = aReader(t, stop)
  await new Promise((resolve) => setTimeout(resolve, 200)) // a loop without a rest lets no timer run
  stop.abort()
  await reader.done
  expect(asked).toBeLessThan(4)
})

test('nor does what is heard while the disk is full keep everything else from running', async () => {
  const t = testApp()
  const stop = new AbortController()
  let looks = 0
  Object.defineProperty(t.logDb.$client.reserve, 'isGone', {
    get() {
      if (++looks === 1000) stop.abort() // a loop without a rest would never end
      return true
    },
  })
  const reader = aReader(t, stop)
  await new Promise((resolve) => setTimeout(resolve, 200))
  stop.abort()
  await reader.done
  expect(looks).toBeLessThan(4)
})

test('what a container writes while the disk is full is kept once there is room', async () => {
  const { t, ada } = withAda(testApp())
  const environment = await anEnvironment(t, ada)
  const { reserve } = t.logDb.$client
  collect(t)
  const id = await environment.run('echo before; sleep 2; seq 100; sleep 60')
  await linesUntil(ada, environment.output, ({ text }) => text === 'before')

  reserve.giveUp()
  for await (const batch of t.docker.containerLogs(id, { follow: true }))
    if (batch.some(({ text }) => text === '100')) break
  expect(written(await allLines(ada, environment.output))).toEqual(['before'])

  reserve.isGone = false
  const lines = await linesUntil(ada, environment.output, ({ text }) => text === '100')
  const numbers = Array.from({ length: 100 }, (_, at) => String(at + 1))
  expect(written(lines)).toEqual(['before', ...numbers])
})
