import { expect, test } from 'bun:test'
import { testApp, withAda } from '../support/app.ts'
import { execIn } from '../support/exec.ts'
import {
  anEnvironment,
  allLines,
  collect,
  hasEnded,
  linesUntil,
  marks,
  written,
  collectedEnvironment,
} from './collecting.ts'

/** As apps of Davit have them. */
const logs = { maxSize: '10m', maxFiles: 3 }

test('a burst of 100,000 lines is kept whole while the files rotate', async () => {
  const { ada, environment } = await collectedEnvironment()
  await environment.run('echo ready; sleep 6; seq 1000000 1099999; sleep 2', { logs })
  await linesUntil(ada, environment.output, hasEnded)
  const lines = await allLines(ada, environment.output)
  const numbers = written(lines).slice(1)
  expect(numbers).toHaveLength(100_000)
  expect(numbers.every((text, at) => text === String(1_000_000 + at))).toBe(true)
  expect(marks(lines)).toEqual(['It started.', 'It ended: exit code 0.'])
})

test('what the engine threw away before it was read is said to be missing, about how much and when', async () => {
  const { t, ada } = withAda(testApp())
  const environment = await anEnvironment(t, ada)
  const stop = collect(t)
  const count = 200_000
  const script = `seq 1 100; until [ -f /go ]; do sleep 0.1; done; n=0; while [ $n -lt 20 ]; do seq $((n * 10000 + 1000001)) $((n * 10000 + 1010000)); n=$((n + 1)); sleep 0.1; done`
  const small = { maxSize: '1m', maxFiles: 3 }
  const id = await environment.run(script, { logs: small })
  await linesUntil(ada, environment.output, ({ text }) => text === '100')
  await stop()
  await execIn(id, ['touch', '/go']) // from here on nobody reads
  await t.docker.waitForExit(id)
  collect(t)
  await linesUntil(ada, environment.output, hasEnded)
  const lines = await allLines(ada, environment.output)
  const numbers = written(lines).slice(100).map(Number)
  expect(numbers.at(-1)).toBe(1_000_000 + count)
  // in order, without a repeat, and the one gap is where it is said to be
  const jumps = numbers.filter((number, at) => at > 0 && number !== numbers[at - 1]! + 1)
  expect(jumps).toEqual([])
  const missing = numbers[0]! - 1_000_001
  expect(missing).toBeGreaterThan(50_000)
  const at = lines.findIndex(({ text }) => text.startsWith('About '))
  expect(lines[at + 1]!.text).toBe(String(numbers[0]))
  expect(lines[at]).toMatchObject({ stream: 'system' })
  const [, about] = /^About ([\d,]+) lines are missing here, from \S+ \S+ UTC to /.exec(
    lines[at]!.text,
  )!
  const estimate = Number(about!.replaceAll(',', ''))
  expect(estimate / missing).toBeGreaterThan(0.2)
  expect(estimate / missing).toBeLessThan(20)
})
