import { expect, spyOn, test } from 'bun:test'
import { journal } from '../../src/platform/journal.ts'
import { isLoss } from '../../src/logs/losses.ts'
import { removeLogsOf } from '../../src/logs/store.ts'
import { testApp, withAda } from '../support/app.ts'
import { until } from '../support/until.ts'
import {
  anEnvironment,
  collect,
  hasEnded,
  linesUntil,
  marks,
  written,
  collectedEnvironment,
} from './collecting.ts'
import { firstServer } from '../../src/platform/root.ts'
import { storedLines } from './stored-lines.ts'

test('the marks of a start and an end are kept though nothing could be stored meanwhile', async () => {
  const { t, ada } = withAda(testApp())
  const environment = await anEnvironment(t, ada)
  t.logDb.$client.run(
    `CREATE TEMP TRIGGER broken BEFORE INSERT ON output_cursors
     BEGIN SELECT RAISE(ABORT, 'the disk is broken'); END`,
  )
  const failed = spyOn(journal, 'error').mockReturnValue()
  const reads = countReads(t)
  collect(t)
  const id = await environment.run('echo one; sleep 1; echo two; exit 3')
  await until(() => failed.mock.calls.some(([what]) => what === 'output was not read'))
  await t.docker.waitForExit(id)
  const before = reads.count
  await until(() => reads.count >= before + 3) // the end was heard, and could not be stored
  t.logDb.$client.run('DROP TRIGGER broken')
  const lines = await linesUntil(ada, environment.output, hasEnded)
  expect(marks(lines)).toEqual(['It started.', 'It ended: exit code 3.'])
  expect(written(lines)).toEqual(['one', 'two'])
  failed.mockRestore()
})

test('all who wait for the last lines of a container are reported when they are stored', async () => {
  const { t, ada, environment } = await collectedEnvironment()
  const id = await environment.run('echo one; sleep 60')
  await linesUntil(ada, environment.output, ({ text }) => text === 'one')
  const late = spyOn(journal, 'warn')
  const key = { id, serverId: firstServer }
  await Promise.all(Array.from({ length: 5 }, () => t.deps.collector.finish(key)))
  await t.deps.collector.finish(key)
  expect(late).not.toHaveBeenCalled()
  late.mockRestore()
})

test('a container that is removed after its end, before it was read, leaves a mark', async () => {
  const { t, ada, environment } = await collectedEnvironment()
  const failed = spyOn(journal, 'error').mockReturnValue()
  let reads = 0
  t.faults.logSnapshot = async function* () {
    reads++
    throw new Error('it can’t be read')
  }
  const id = await environment.run('echo one; exit 3')
  await t.docker.waitForExit(id)
  const before = reads
  await until(() => reads >= before + 3) // the end was heard
  await t.docker.removeContainer(id)
  const lines = await linesUntil(ada, environment.output, isLoss)
  expect([written(lines), marks(lines).length]).toEqual([[], 3])
  failed.mockRestore()
})

/** Counts how often the log of a container is read. */
function countReads({ docker, faults }: ReturnType<typeof testApp>) {
  const reads = { count: 0 }
  const { logSnapshot } = docker
  faults.logSnapshot = (...args) => (reads.count++, logSnapshot(...args))
  return reads
}

test('what is written to a log after it was removed is dropped', async () => {
  const t = testApp()
  const log = { sourceId: Bun.randomUUIDv7(), logId: Bun.randomUUIDv7() }
  const lines = [{ time: Date.now(), stream: 'system' as const, text: 'one' }]
  t.logs.write(log, lines)
  await removeLogsOf(t.logDb, log.sourceId)
  t.logs.write(log, lines)
  expect(storedLines(t.logDb, log)).toEqual([])
})
