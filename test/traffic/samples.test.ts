import { expect, test } from 'bun:test'
import { readAccessLine, Samples } from '../../src/edge/access-log.ts'
import { aLine } from './access.ts'

/** The lines of Caddy for requests that are evenly spread over these seconds; a test of its log has the real ones. */
function* linesOf(rate: number, { seconds, at = 1_795_752_000.1234 }: Load) {
  let since = 0
  let count = 0
  for (let request = 0; request < rate * seconds; request++) {
    const ts = at + request / rate
    if (ts >= since + 1) [since, count] = [ts, 0]
    count++
    if (count <= 1000 || (count - 1000) % 11 === 0) yield aLine('app.test', { ts, level: 'info' })
  }
}

type Load = { seconds: number; at?: number }

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

test('a failed request counts once, by the line that isn’t sampled, and among no others', () => {
  const samples = new Samples()
  counted(linesOf(20_000, { seconds: 0.5 }), samples)
  const failed = { ts: 1_795_752_000.7, status: 503 }
  expect(readAccessLine(aLine('app.test', { ...failed, level: 'error' }), samples)).toBeNull()
  expect(readAccessLine(aLine('app.test', failed), samples)!.requests).toBe(1)
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
