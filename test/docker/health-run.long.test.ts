import { describe, expect, test } from 'bun:test'
import { healthTestOf } from '../../src/docker/health-test.ts'
import { sandbox } from './sandbox.ts'

const { docker, run, options } = sandbox()

const signal = new AbortController().signal

/** Runs the test of a container that runs the line, with two seconds to pass. */
const verdictOf = async (
  line: string,
  command: string[],
  { testTimeout = 1000, timeout = 2000 } = {},
) =>
  docker.untilHealthTestPasses(await run(line), {
    test: { command, timeout: testTimeout },
    timeout,
    signal,
  })

describe('the test of a health check is read as the engine reads it', () => {
  const seconds = 1_000_000_000
  test.each([
    [
      { Test: ['CMD', 'curl', '-f', 'http://x'], Timeout: 3 * seconds },
      ['curl', '-f', 'http://x'],
      3000,
    ],
    [{ Test: ['CMD-SHELL', 'exit 1'] }, ['/bin/sh', '-c', 'exit 1'], 30_000],
    [{ Test: ['NONE'] }, null, 0],
    [{ Test: [] }, null, 0],
    [{ Test: null }, null, 0],
    [{ Test: ['curl', '-f'] }, null, 0],
    [null, null, 0],
  ])('%j', (Healthcheck, command, timeout) => {
    expect(healthTestOf({ Healthcheck })).toEqual(command && { command, timeout })
  })

  test('with the shell of the container, where it has one', () => {
    const config = { Healthcheck: { Test: ['CMD-SHELL', 'true'] }, Shell: ['bash', '-ec'] }
    expect(healthTestOf(config)?.command).toEqual(['bash', '-ec', 'true'])
  })

  test('from a container, with what the engine says of it', async () => {
    const healthCheck = { test: ['CMD-SHELL', 'echo low; exit 1'], interval: 100, timeout: 4000 }
    const id = await run('sleep 60', { healthCheck })
    const found = (await docker.inspectContainer(id))!
    expect(found.healthTest).toEqual({
      command: ['/bin/sh', '-c', 'echo low; exit 1'],
      timeout: 4000,
    })
    for await (const event of docker.events({
      filters: { container: [id] },
      since: found.startedAt!,
    }))
      if (event.action === 'health_status: unhealthy') break
    expect((await docker.inspectContainer(id))!.healthOutput).toBe('low\n')
  })
})

describe('the test of a health check', () => {
  test('runs again until it passes', async () => {
    const test = ['sh', '-c', 'test -f /ready || { touch /ready; exit 1; }']
    expect(await verdictOf('sleep 60', test, { timeout: 60_000 })).toMatchObject({ passed: true })
  })

  test('has the variables and the user of the container', async () => {
    const id = await run('sleep 60', { env: { NAME: 'ada' }, user: '1000' })
    const test = { command: ['sh', '-c', 'test $NAME:$(id -u) = ada:1000'], timeout: 5000 }
    const verdict = await docker.untilHealthTestPasses(id, { test, timeout: 5000, signal })
    expect(verdict.passed).toBe(true)
  })

  test('that fails says how, with both of its streams', async () => {
    const verdict = await verdictOf('sleep 60', ['sh', '-c', 'echo a; echo b >&2; exit 3'])
    expect(verdict).toMatchObject({ passed: false, exitCode: 3 })
    expect(verdict.output.split('\n').sort()).toEqual(['', 'a', 'b'])
  })

  test('whose program is missing ends like in a shell', async () => {
    const verdict = await verdictOf('sleep 60', ['/no/curl'])
    expect([126, 127]).toContain(verdict.exitCode!)
    expect(verdict.output).toContain('/no/curl')
  })

  test('that takes longer than its timeout has failed', async () => {
    const verdict = await verdictOf('sleep 60', ['sleep', '50'], { testTimeout: 200 })
    expect(verdict).toEqual({
      passed: false,
      exitCode: null,
      output: 'It did not end within its timeout of 0.2 s.',
    })
  })

  test('that hangs is not begun more than three times at once', async () => {
    const id = await run('sleep 60')
    const test = { command: ['sh', '-c', 'echo x >> /tries; exec sleep 50'], timeout: 50 }
    await docker.untilHealthTestPasses(id, { test, timeout: 6000, signal })
    const count = { command: ['sh', '-c', 'exit $(wc -l < /tries)'], timeout: 5000 }
    const counted = await docker.untilHealthTestPasses(id, { test: count, timeout: 2000, signal })
    expect(counted.exitCode).toBe(3)
  })

  test('that writes much is kept in part, in whole lines', async () => {
    const test = ['sh', '-c', 'seq 100000; exit 1']
    const { output, exitCode } = await verdictOf('sleep 60', test, {
      testTimeout: 10_000,
      timeout: 900,
    })
    expect(exitCode === 1 || exitCode === null).toBe(true)
    expect(output.length).toBeLessThanOrEqual(4096)
    expect(output).toEndWith('\n')
  })

  test('that writes without end is not read without end', async () => {
    const verdict = await verdictOf('sleep 60', ['yes'])
    expect(verdict).toMatchObject({ passed: false, exitCode: null })
  })

  test('of a container that has ended comes to nothing', async () => {
    const id = await run('exit 0')
    await docker.waitForExit(id)
    const options = { test: { command: ['true'], timeout: 1000 }, timeout: 500, signal }
    const verdict = await docker.untilHealthTestPasses(id, options)
    expect(verdict).toEqual({ passed: false, exitCode: null, output: '' })
  })

  test('ends with the signal', async () => {
    const id = await run('sleep 60')
    const options = { test: { command: ['sleep', '50'], timeout: 60_000 }, timeout: 60_000 }
    const running = docker.untilHealthTestPasses(id, {
      ...options,
      signal: AbortSignal.timeout(300),
    })
    expect(await running.catch((error) => error.name)).toBe('TimeoutError')
  })
})

test('a container that was killed from outside has not run out of memory', async () => {
  const id = await run('sleep 60', { ...options(), init: false })
  Bun.spawnSync(['docker', 'kill', id])
  expect(await docker.inspectEnded(id)).toMatchObject({ exitCode: 137, oomKilled: false })
})
