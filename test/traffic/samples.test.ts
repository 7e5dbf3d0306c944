import { expect, test } from 'bun:test'
import { readAccessLine, Samples } from '../../src/edge/access-log.ts'
import { aLine } from './access.ts'

/** The lines of Caddy for requests that are evenly spread over these seconds; a test of its log has the real ones. */
function* linesOf(rate: number, { seconds, at = 1_795_752_000.1234, status = 200 }: Load) {
  let since = 0
  let count = 0
  for (let request = 0; request < rate * seconds; request++) {
    const ts = at + request / rate
    if (ts >= since + 1) [since, count] = [ts, 0]
    count++
    if (count <= 1000 || (count - 1000) % 11 === 0) yield aLine('app.test', { ts, status })
  }
}

type Load = { seconds: number; at?: number; status?: number }

const counted = (lines: Iterable<string>, samples: Samples) =>
  [...lines].reduce((sum, line) => sum + readAccessLine(line, samples)!.requests, 0)

test('up to a thousand requests a second are counted one by one', () => {
  const samples = new Samples()
  for (const rate of [1, 20, 999])
    expect(counted(linesOf(rate, { seconds: 3 }), samples)).toBe(rate * 3)
})

test('more are at most a percent off, also where the rate rises and falls', () => {
  const samples = new Samples()
  for (const [at, rate] of [1100, 1500, 4321, 25_000, 1009].entries()) {
    const load = { seconds: 4, at: 1_795_752_000 + at * 10 }
    const all = rate * load.seconds
    const found = counted(linesOf(rate, load), samples)
    expect(Math.abs(found - all) / all).toBeLessThan(0.01)
  }
})

test('failed requests are counted one by one among however many others', () => {
  const samples = new Samples()
  counted(linesOf(20_000, { seconds: 0.5 }), samples)
  const failed = linesOf(999, { seconds: 1, at: 1_795_752_000.7, status: 503 })
  expect(counted(failed, samples)).toBe(999)
})

test('of more than a thousand failed requests a second, the sum is at most a percent off', () => {
  const samples = new Samples()
  const found = counted(linesOf(4321, { seconds: 4, status: 503 }), samples)
  expect(Math.abs(found - 4321 * 4) / (4321 * 4)).toBeLessThan(0.01)
})

test('a line without a level, as an earlier Davit had a second one of each failed request, is none', () => {
  const { level: _, ...line } = JSON.parse(aLine('app.test', { status: 503 }))
  expect(readAccessLine(JSON.stringify(line))).toBeNull()
})

test('a line that comes late begins no second', () => {
  const samples = new Samples()
  const lines = [...linesOf(20_000, { seconds: 2 })]
  const [late] = lines.splice(lines.length / 2 - 1, 1)
  lines.splice(lines.length / 2 + 500, 0, late!)
  expect(Math.abs(counted(lines, samples) - 40_000) / 40_000).toBeLessThan(0.01)
})

test('after the clock was put back, a second begins', () => {
  const samples = new Samples()
  counted(linesOf(5000, { seconds: 1 }), samples)
  expect(counted(linesOf(10, { seconds: 1, at: 1_700_000_000 }), samples)).toBe(10)
})
