import { expect, spyOn, test } from 'bun:test'
import { openLogDatabase } from '../../src/db/index.ts'
import { LogBatch } from '../../src/logs/log-batch.ts'
import { masking } from '../../src/logs/mask.ts'
import { isLoss } from '../../src/logs/losses.ts'
import { LogWriter } from '../../src/logs/log-writer.ts'
import { Logs } from '../../src/logs/logs.ts'
import { storedLines } from './stored-lines.ts'

const log = { sourceId: 'e', logId: 'd' }

function aLog() {
  const logDb = openLogDatabase(':memory:')
  const logs = new Logs({ logDb, config: { logSize: 0 } })
  const stored = () => storedLines(logDb, log)
  return { logDb, logs, stored, writer: new LogWriter({ logDb, logs }, log) }
}

test('lines are stored before they are published, in order and without a gap', async () => {
  const { logs, stored, writer } = aLog()
  const abort = new AbortController()
  const heard = (async () => {
    let last = 0
    for await (const event of logs.subscribe('d', abort.signal)) {
      if (!(event instanceof LogBatch)) continue
      expect(event.first).toBe(last + 1)
      last = event.last
      expect(stored().at(-1)!.sequence).toBeGreaterThanOrEqual(last)
      if (last === 2345) return
    }
  })()
  for (let line = 1; line <= 2345; line++) writer.write(`line ${line}`, 'stdout')
  await heard // the last ones come by the clock
  expect(stored().map(({ sequence }) => sequence)).toEqual(
    Array.from({ length: 2345 }, (_, at) => at + 1),
  )
  expect(stored().at(-1)).toMatchObject({ text: 'line 2345', stream: 'stdout' })
})

test('a writer goes on where another one of the same log has ended', () => {
  const { logDb, logs, stored, writer } = aLog()
  writer.write('one')
  writer.flush()
  const next = new LogWriter({ logDb, logs }, log)
  next.write('two')
  next.flush()
  expect(stored().map(({ sequence, text }) => [sequence, text])).toEqual([
    [1, 'one'],
    [2, 'two'],
  ])
})

test('a long line is split, never in the middle of a character', () => {
  const { stored, writer } = aLog()
  const long = 'x'.repeat(16_383) + '𝄞'.repeat(10_000)
  writer.write(long)
  writer.flush()
  const texts = stored().map(({ text }) => text)
  expect(texts.length).toBeGreaterThan(2)
  expect(texts.join('')).toBe(long)
  for (const text of texts) {
    expect(text.length).toBeLessThanOrEqual(16_384)
    expect(text.isWellFormed()).toBe(true)
  }
})

test('a secret across the place where a line is split is masked', () => {
  const { stored, writer } = aLog()
  writer.mask = { mask: masking(['hunter2']), state: '' }
  writer.write(`${'x'.repeat(16_381)}hunter2${'y'.repeat(100)}`)
  writer.flush()
  expect(
    stored()
      .map(({ text }) => text)
      .join(''),
  ).not.toMatch(/hunter|ter2/)
})

test('an empty line is a line, NUL is replaced, colours stay', () => {
  const { stored, writer } = aLog()
  for (const text of ['', 'a\0b', '\x1b[31mred\x1b[0m']) writer.write(text)
  writer.flush()
  expect(stored().map(({ text }) => text)).toEqual(['', 'a\uFFFDb', '\x1b[31mred\x1b[0m'])
})

test('a log that can’t be stored stops nothing, and says what it lacks when it can again', () => {
  const { logDb, stored, writer } = aLog()
  writer.write('kept')
  writer.flush()
  logDb.$client.run('ALTER TABLE output_blocks RENAME TO away')
  for (const text of ['lost', 'lost too']) {
    writer.write(text)
    expect(() => writer.flush()).not.toThrow()
  }
  logDb.$client.run('ALTER TABLE away RENAME TO output_blocks')
  writer.write('kept too')
  writer.flush()
  expect(stored().map(({ sequence, text }) => [sequence, text])).toEqual([
    [1, 'kept'],
    [2, '2 lines are missing here, because they couldn’t be stored.'],
    [3, 'kept too'],
  ])
  expect(stored().map(isLoss)).toEqual([false, true, false])
})

test('a log that is full says so once, keeps what Davit itself says, and stays full', () => {
  const { logDb, logs, stored } = aLog()
  const bounds = { lines: 10, bytes: 10_000 }
  const writer = new LogWriter({ logDb, logs }, log, bounds)
  for (let line = 1; line <= 50; line++) writer.write(`line ${line}`, 'stdout')
  writer.write('Failed: it printed too much')
  writer.flush()
  const again = new LogWriter({ logDb, logs }, log, bounds)
  again.write('line 51', 'stderr')
  again.write('Cancelled.')
  again.flush()
  const texts = stored().map(({ text }) => text)
  expect(texts.slice(0, 10)).toEqual(Array.from({ length: 10 }, (_, at) => `line ${at + 1}`))
  expect(texts[10]).toMatch(/^This log is full: the maximum is 10 lines /)
  expect(texts.slice(11)).toEqual(['Failed: it printed too much', 'Cancelled.'])
})

test('a log has its bound in bytes too, and so have the lines that a build makes look like Davit’s', () => {
  const { logDb, logs, stored } = aLog()
  const writer = new LogWriter({ logDb, logs }, log, { lines: 1e6, bytes: 100_000 })
  for (let line = 0; line < 100; line++) writer.write('é'.repeat(1000), 'stdout')
  for (let line = 0; line < 10_000; line++) writer.write('x'.repeat(1000))
  writer.flush()
  const bytes = stored().reduce((sum, { text }) => sum + Buffer.byteLength(text), 0)
  expect(stored().filter(({ stream }) => stream === 'stdout')).toHaveLength(50)
  expect(bytes).toBeGreaterThan(1_000_000)
  expect(bytes).toBeLessThan(1_200_000)
})

test('long lines are published and read back in small batches', async () => {
  const { logs, stored, writer } = aLog()
  const abort = new AbortController()
  const heard = Array.fromAsync(logs.subscribe('d', abort.signal))
  for (let line = 0; line < 40; line++) {
    writer.write('x'.repeat(16_000), 'stdout')
    await Bun.sleep(0)
  }
  writer.flush()
  await Bun.sleep(0)
  abort.abort()
  const batches = (await heard).filter((event) => event instanceof LogBatch)
  for (const { lines } of batches) expect(lines.length).toBeLessThan(10)
  expect(stored()).toHaveLength(40)
})

test('the memory that lines took is asked back without holding up other work', () => {
  const { logs } = aLog()
  using asked = spyOn(Bun, 'gc')
  const line = { time: Date.now(), stream: 'stdout' as const, text: 'x'.repeat(1000) }
  for (let batch = 0; batch < 50; batch++) logs.write(log, Array<typeof line>(100).fill(line))
  expect(asked).toHaveBeenCalled()
  expect(asked).not.toHaveBeenCalledWith(true)
})

test('the memory of lines that someone follows is asked back sooner', () => {
  const { logs } = aLog()
  using asked = spyOn(Bun, 'gc')
  const line = { time: Date.now(), stream: 'stdout' as const, text: '' }
  const write = () => {
    asked.mockClear()
    for (let batch = 0; batch < 100; batch++) logs.write(log, Array<typeof line>(500).fill(line))
    return asked.mock.calls.length
  }
  const alone = write()
  logs.listen('d', new AbortController().signal, { push: () => {} })
  expect(write()).toBeGreaterThan(3 * alone)
})
