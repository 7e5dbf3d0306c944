import { expect, test } from 'bun:test'
import { dropOldOutput } from '../../src/logs/retention.ts'
import { outputOf } from '../../src/logs/answer-log.tsx'
import { LogBatch } from '../../src/logs/log-batch.ts'
import { followLog } from '../../src/logs/follow-log.ts'
import { writeOutput } from './writing.ts'
import { listCursorsOn, saveCursor } from '../../src/logs/cursor-store.ts'
import { getExtent } from '../../src/logs/store.ts'
import { testApp, withAda } from '../support/app.ts'
import type { TestApp } from '../support/app.ts'
import { serverId, storeServers } from '../support/servers.ts'
import { allLines, anEnvironment } from './collecting.ts'

const day = 86_400_000

const line = (text: string, time = Date.now()) => ({ time, stream: 'stdout' as const, text })

const countBlocks = ({ logDb }: TestApp) =>
  logDb.$client.query<{ n: number }, []>('SELECT count(*) AS n FROM output_blocks').get()!.n

test('the oldest lines give way when the size is reached, and numbers go on', async () => {
  const { t, ada } = withAda(testApp({ DAVIT_LOG_SIZE: '1' }))
  const { id, output } = await anEnvironment(t, ada)
  const random = () => Buffer.from(crypto.getRandomValues(new Uint8Array(600))).toString('base64')
  for (let batch = 0; batch < 40; batch++)
    writeOutput(
      t,
      { sourceId: id },
      Array.from({ length: 100 }, () => line(random())),
    )
  const { first, last, bytes } = getExtent(t.logDb, outputOf({ id }))
  expect(last).toBe(4000)
  expect(first).toBeGreaterThan(1000)
  expect(bytes).toBeLessThanOrEqual(1024 * 1024)
  expect(bytes).toBeGreaterThan(800 * 1024)
  const lines = await allLines(ada, output)
  expect(lines.map(({ seq }) => seq)).toEqual(
    Array.from({ length: last - first + 1 }, (_, at) => first + at),
  )
  expect((await ada.page(output)).text).toContain(`data-first="${first}" data-last="4000"`)
})

test('lines older than the days go, and numbers go on where none is left', async () => {
  const { t, ada } = withAda(testApp({ DAVIT_LOG_DAYS: '2' }))
  const { id, output } = await anEnvironment(t, ada)
  const old = Date.now() - 3 * day
  const long = 'x'.repeat(70_000)
  writeOutput(t, { sourceId: id }, [line('one', old), line(long, old)])
  writeOutput(t, { sourceId: id }, [line('three', old)])
  await dropOldOutput(t.deps)
  t.logs.forget()
  expect(await allLines(ada, output)).toEqual([])
  expect(getExtent(t.logDb, outputOf({ id }))).toMatchObject({ first: 4, last: 3, since: null })
  expect((await ada.page(output)).status).toBe(200)
  writeOutput(t, { sourceId: id }, [line('four')])
  await dropOldOutput(t.deps)
  expect((await allLines(ada, output)).map(({ seq, text }) => [seq, text])).toEqual([[4, 'four']])
})

test('an app that says little does not make a row of the database for each line', async () => {
  const { t, ada } = withAda(testApp())
  const { id, output } = await anEnvironment(t, ada)
  const texts = Array.from({ length: 2000 }, (_, at) => `at ${at}: GET /healthz 200`)
  for (const [at, text] of texts.entries()) {
    if (at === 1000) t.logs.forget()
    writeOutput(t, { sourceId: id, name: `c${at % 2}` }, [line(text)])
  }
  expect((await allLines(ada, output)).map(({ text }) => text)).toEqual(texts)
  expect(countBlocks(t)).toBeLessThan(5)
})

test('what is left of an environment that is gone goes', async () => {
  const { t, ada } = withAda(testApp())
  const { id } = await anEnvironment(t, ada)
  writeOutput(t, { sourceId: id }, [line('one')])
  t.db.$client.run('DELETE FROM projects')
  await dropOldOutput(t.deps)
  expect(countBlocks(t)).toBe(0)
})

test('where reading ended on a server that is gone is forgotten with what was read there', async () => {
  const t = testApp({ DAVIT_LOG_DAYS: '2' })
  storeServers(t.db, [{}, {}])
  const [first, second, gone] = [serverId(1), serverId(2), serverId(3)]
  const old = new Date(Date.now() - 3 * day).toISOString()
  const now = new Date().toISOString()
  const kept = [
    { serverId: gone, containerId: 'new of one gone', timestamp: now },
    ...[first, second].map((id) => ({ serverId: id, containerId: `of ${id}`, timestamp: old })),
  ]
  const { id: sourceId } = await anEnvironment(t, t.logIn('ada@example.com'))
  const of = { sourceId, deploymentId: '', name: 'app', ordinal: 0, stream: null, endedAt: null }
  for (const cursor of [...kept, { serverId: gone, containerId: 'old', timestamp: old }])
    saveCursor(t.logDb, { ...of, ...cursor })
  await dropOldOutput(t.deps)
  const left = [first, second, gone].flatMap((id) => listCursorsOn(t.logDb, id))
  expect(left.map(({ containerId }) => containerId).sort()).toEqual(
    kept.map(({ containerId }) => containerId).sort(),
  )
})

test('who follows gets stored lines, then new ones, once each, however slowly', async () => {
  const { t, ada } = withAda(testApp())
  const { id } = await anEnvironment(t, ada)
  const write = (from: number, count: number) =>
    writeOutput(
      t,
      { sourceId: id },
      Array.from({ length: count }, (_, at) => line(String(from + at))),
    )
  write(1, 2500)
  const abort = new AbortController()
  const seen: number[] = []
  const log = outputOf({ id })
  for await (const batch of followLog(t, log, { after: 10, signal: abort.signal })) {
    if (!(batch instanceof LogBatch)) continue
    for (const { sequence, text } of batch.lines) {
      expect(text).toBe(String(sequence))
      seen.push(sequence)
    }
    if (seen.length === 2490) for (let at = 2501; at < 2701; at++) write(at, 1)
    if (seen.at(-1) === 2700) abort.abort()
  }
  expect(seen).toEqual(Array.from({ length: 2690 }, (_, at) => at + 11))
})
