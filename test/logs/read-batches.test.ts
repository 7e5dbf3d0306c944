import { expect, test } from 'bun:test'
import { noOrigin, unpack } from '../../src/logs/block.ts'
import type { NewLine } from '../../src/logs/log-line.tsx'
import { channelOf } from '../../src/logs/logs.ts'
import { ReadBatches } from '../../src/logs/read-batches.ts'
import type { Batch } from '../../src/logs/read-batches.ts'
import { getNewestBlock } from '../../src/logs/store.ts'
import { testApp } from '../support/app.ts'
import {
  allLines,
  anEnvironment,
  hasEnded,
  linesUntil,
  collectedEnvironment,
} from './collecting.ts'
import type { Line } from './collecting.ts'
import { storedLines } from './stored-lines.ts'
import { firstServer } from '../../src/platform/root.ts'

const names = ['web', 'worker', 'clock', 'mailer', 'cron']
const each = 600

/** Three lines every few milliseconds. */
const busy = (name: string) =>
  `n=0; while [ $n -lt ${each} ]; do for _ in 1 2 3; do n=$((n+1)); echo ${name} $n; done; sleep 0.01; done`

const numbers = (lines: Line[], name: string) =>
  lines.flatMap(({ process, stream, text }) =>
    process === name && stream === 'stdout' ? Number(text.replace(`${name} `, '')) : [],
  )

const oneTo = (count: number) => Array.from({ length: count }, (_, at) => at + 1)

test('what several containers write at once stands in the order of time, each line once', async () => {
  const { ada, environment } = await collectedEnvironment()
  let ends = 0
  const followed = linesUntil(
    ada,
    environment.output,
    (line) => hasEnded(line) && ++ends === names.length,
  )
  for (const process of names) await environment.run(busy(process), { process })
  const live = await followed
  const stored = await allLines(ada, environment.output)
  expect(stored).toEqual(live)
  for (const name of names) expect(numbers(stored, name)).toEqual(oneTo(each))
  const written = stored.filter(({ stream }) => stream === 'stdout')
  const turns = written.filter(({ process }, at) => process !== written[at - 1]?.process)
  expect(turns.length).toBeGreaterThan(100) // as they came, and not a second of each after the other
})

/** The round of an environment's log, and batches of lines at these times. */
async function aLog() {
  const t = testApp()
  const environment = await anEnvironment(t, t.logIn('ada@example.com'))
  const log = { sourceId: environment.id, logId: '' }
  const readBatches = new ReadBatches(t.deps, log)
  const stored: string[] = []
  const batch = (process: string, times: number[]): Batch => {
    const origin = { ...noOrigin, container: `c-${process}`, process }
    const lines = times.map((time): NewLine => ({ time, stream: 'stdout', text: process, origin }))
    const unread = { timestamp: null, ordinal: 0, stream: null, endedAt: null }
    const cursor = {
      containerId: process,
      serverId: firstServer,
      sourceId: environment.id,
      deploymentId: '',
      name: `c-${process}`,
      ...unread,
    }
    return { lines, cursor, state: '', stored: () => void stored.push(process) }
  }
  const kept = () =>
    storedLines(t.logDb, log).map(
      ({ time, process, container }) => `${time} ${process} ${container}`,
    )
  return { t, log, readBatches, batch, stored, kept }
}

test('a round stores what all have read, when the last one has, in the order of time', async () => {
  const { readBatches, batch, stored, kept } = await aLog()
  const [web, worker, quiet] = [readBatches.enter(), readBatches.enter(), readBatches.enter()]
  expect(worker.until).toBe(web.until)
  const first = web.store(batch('web', [1, 4, 4, 3, 9]))
  const second = worker.store(batch('worker', [2, 4, 8]))
  expect(kept()).toEqual([])
  quiet.store(null)
  await Promise.all([first, second])
  expect(kept()).toEqual([
    '1 web c-web',
    '2 worker c-worker',
    '4 web c-web',
    '4 web c-web',
    '3 web c-web', // as that container wrote them
    '4 worker c-worker',
    '8 worker c-worker',
    '9 web c-web',
  ])
  expect(stored).toEqual(['web', 'worker'])
})

test('one that has not read in time holds the others up no longer, and is stored by itself', async () => {
  const { readBatches, batch, kept } = await aLog()
  const [web, slow] = [readBatches.enter(), readBatches.enter()]
  await web.store(batch('web', [2]))
  expect(kept()).toEqual(['2 web c-web'])
  await slow.store(batch('slow', [1]))
  expect(kept()).toEqual(['2 web c-web', '1 slow c-slow'])
})

test('a round that can’t be stored fails for all, and leaves nothing', async () => {
  const { t, readBatches, batch, stored, kept } = await aLog()
  const [web, worker] = [readBatches.enter(), readBatches.enter()]
  const wrong = { ...batch('worker', [2]), cursor: null as never }
  const work = [web.store(batch('web', [1])), worker.store(wrong)]
  for (const { status } of await Promise.allSettled(work)) expect(status).toBe('rejected')
  expect([kept(), stored]).toEqual([[], []])
  const cursors = t.logDb.$client.query('SELECT count(*) AS n FROM output_cursors').get()
  expect(cursors).toEqual({ n: 0 })
  await readBatches.enter().store(batch('web', [1]))
  expect(kept()).toEqual(['1 web c-web'])
})

test('an origin that comes again is named once in a block, also after a restart', async () => {
  const { t, readBatches, batch, kept } = await aLog()
  const turns = async () => {
    const both = [readBatches.enter(), readBatches.enter()]
    await Promise.all([
      both[0]!.store(batch('web', [1, 3, 5])),
      both[1]!.store(batch('worker', [2, 4, 6])),
    ])
  }
  await turns()
  t.logs.forget() // as a process does that ends
  await turns()
  expect(kept()).toEqual(
    [...[1, 2, 3, 4, 5, 6], ...[1, 2, 3, 4, 5, 6]].map((time) =>
      time % 2 ? `${time} web c-web` : `${time} worker c-worker`,
    ),
  )
  const text = unpack(getNewestBlock(t.logDb, readBatches.log)!.data)
  expect(text.match(/c-w/g)).toHaveLength(2)
})

test('who begins to follow a log is noticed, so that it is read at once and often from then on', async () => {
  const { t, readBatches, log } = await aLog()
  const [over, never] = [new AbortController(), new AbortController().signal]
  let wakes = 0
  const leave = readBatches.whenFollowed(never, () => wakes++)
  expect(readBatches.isFollowed).toBe(false)

  t.deps.logs.follow('another', over.signal)
  expect([wakes, readBatches.isFollowed]).toEqual([0, false])
  t.deps.logs.follow(channelOf(log), over.signal)
  expect([wakes, readBatches.isFollowed]).toEqual([1, true])

  leave()
  t.deps.logs.follow(channelOf(log), over.signal)
  expect(wakes).toBe(1)
  over.abort()
  expect(readBatches.isFollowed).toBe(false)
})

test('who reads a log once waits until what rests has been read again', async () => {
  const { t, readBatches, log, batch, kept } = await aLog()
  await t.deps.logs.refresh(log) // no one rests

  const leave = readBatches.whenFollowed(new AbortController().signal, () => {
    leave()
    void readBatches.enter().store(batch('web', [1]))
  })
  await t.deps.logs.refresh(log)
  expect(kept()).toEqual(['1 web c-web'])
  expect(readBatches.isFollowed).toBe(false)
})
