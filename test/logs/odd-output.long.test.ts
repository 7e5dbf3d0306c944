import { expect, test } from 'bun:test'
import { hasEnded, linesUntil, marks, written, collectedEnvironment } from './collecting.ts'

async function outputOf(script: string, options: { tty?: boolean } = {}) {
  const { ada, environment } = await collectedEnvironment()
  await environment.run(script, options)
  return linesUntil(ada, environment.output, hasEnded)
}

test('a line of 1 MB is kept whole, in pieces, and what stands around it too', async () => {
  const lines = written(
    await outputOf("echo before; head -c 1000000 /dev/zero | tr '\\0' x; echo; echo after"),
  )
  expect(lines[0]).toBe('before')
  expect(lines.at(-1)).toBe('after')
  const pieces = lines.slice(1, -1)
  expect(pieces.join('')).toBe('x'.repeat(1_000_000))
  expect(Math.max(...pieces.map(({ length }) => length))).toBe(16_384)
})

test('a line without an end does not hold up what comes on the other stream', async () => {
  const script =
    "head -c 20000 /dev/zero | tr '\\0' x; for n in 1 2 3; do echo $n >&2; sleep 1; done"
  const lines = await outputOf(script)
  const stderr = lines.filter(({ stream }) => stream === 'stderr').map(({ text }) => text)
  expect(stderr).toEqual(['1', '2', '3'])
  const stdout = lines.filter(({ stream }) => stream === 'stdout').map(({ text }) => text)
  expect(stdout.join('')).toBe('x'.repeat(20_000))
})

test('NUL, broken UTF-8, colours and progress bars become text', async () => {
  const script =
    "printf 'a\\000b\\n\\377\\376 c\\n\\033[31mred\\033[0m\\n10%%\\r50%%\\r100%%\\n'; echo 'ä€😀\r'"
  const lines = written(await outputOf(script))
  expect(lines).toEqual(['a\uFFFDb', '\uFFFD\uFFFD c', '\u001b[31mred\u001b[0m', '100%', 'ä€😀'])
})

test('ten thousand empty lines are ten thousand lines', async () => {
  expect(written(await outputOf("yes '' | head -n 10000"))).toHaveLength(10_000)
})

test('the output of a container with a terminal is kept too', async () => {
  const lines = await outputOf(
    "echo one; echo two >&2; sleep 3; head -c 40000 /dev/zero | tr '\\0' x; echo; echo three",
    { tty: true },
  )
  const [one, two, ...rest] = written(lines)
  expect([one, two, rest.at(-1)]).toEqual(['one', 'two', 'three'])
  expect(rest.slice(0, -1).join('')).toBe('x'.repeat(40_000))
  expect(marks(lines)).toEqual(['It started.', 'It ended: exit code 0.'])
})

test('a container whose labels name no deployment as Davit does is not read', async () => {
  const { t, ada, environment } = await collectedEnvironment()
  const random = Bun.randomUUIDv7().slice(-12)
  const deploymentId = `"><b>x</b>\no1 forged ${random}`
  await t.docker.waitForExit(await environment.run('echo odd', { deploymentId }))
  await environment.run('echo right')
  const lines = await linesUntil(ada, environment.output, hasEnded)
  expect(written(lines)).toEqual(['right'])
})
