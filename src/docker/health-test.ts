import { sleepUpTo, unlessAborted } from '../platform/pause.ts'
import { startDeadline } from './deadline.ts'
import type { Engine } from './engine.ts'
import { runInContainer } from './exec.ts'
import type { CommandResult } from './exec.ts'
import { isContainerGone } from './failures.ts'

/** The command of a container's HEALTHCHECK. */
export type HealthTest = {
  command: string[]
  /** Milliseconds after which it counts as failed. */
  timeout: number
}

export type HealthVerdict = {
  passed: boolean
  /** Null when no test has ended. */
  exitCode: number | null
  output: string
}

/** The part of a container's configuration that defines it. */
export type HealthConfig = {
  Healthcheck?: { Test?: string[] | null; Timeout?: number } | null
  Shell?: string[] | null
}

const defaultTimeout = 30_000

/** The engine runs a command line in the container with this shell. */
export const containerShell = ['/bin/sh', '-c']

/** Null without a HEALTHCHECK, and for `HEALTHCHECK NONE`. Reads it as the engine does. */
export function healthTestOf({ Healthcheck, Shell }: HealthConfig): HealthTest | null {
  const [how, ...words] = Healthcheck?.Test ?? []
  const shell = Shell?.length ? Shell : containerShell
  const command = how === 'CMD' ? words : how === 'CMD-SHELL' ? [...shell, ...words] : []
  if (command.length === 0) return null
  const timeout = Math.round((Healthcheck?.Timeout ?? 0) / 1e6)
  return { command, timeout: timeout || defaultTimeout }
}

/** Milliseconds between the end of a test and the next one. */
const interval = 1000

/** A hanging test can't be ended from outside its container, so no more than these may hang at a time. */
const maxHanging = 3

type Options = {
  test: HealthTest
  /** In milliseconds. */
  timeout: number
  /** True for one attempt. */
  isOnce?: boolean
  signal: AbortSignal
}

/**
 * Runs the test each second until it passes or times out, because the engine runs its first one only after
 * the interval of the HEALTHCHECK. Throws when the signal aborts, or when the engine call fails.
 */
export async function untilHealthTestPasses(
  engine: Engine,
  id: string,
  { test, timeout, isOnce = false, signal }: Options,
): Promise<HealthVerdict> {
  using deadline = startDeadline(signal, timeout)
  const over = deadline.signal
  const running = new Set<Promise<unknown>>()
  let last: HealthVerdict = { passed: false, exitCode: null, output: '' }
  while (!over.aborted) {
    const run = runInContainer(engine, id, { command: test.command, signal: over })
    const ended = run.catch(() => {}).finally(() => running.delete(ended))
    running.add(ended)
    last = (await resultOf(run, { test, over })) ?? last
    signal.throwIfAborted()
    if (last.passed || isOnce) return last
    await sleepUpTo(interval, over)
    if (running.size >= maxHanging) await unlessAborted(Promise.race(running), over).catch(() => {})
  }
  signal.throwIfAborted()
  return last
}

/** Null when there was no result: the container isn't running, or the time is up. */
async function resultOf(
  run: Promise<CommandResult>,
  { test, over }: { test: HealthTest; over: AbortSignal },
): Promise<HealthVerdict | null> {
  using limit = startDeadline(over, test.timeout)
  try {
    const result = await unlessAborted(run, limit.signal)
    return { ...result, passed: result.exitCode === 0 }
  } catch (error) {
    if (over.aborted || isContainerGone(error)) return null
    if (!limit.passed) throw error
    const output = `It did not end within its timeout of ${test.timeout / 1000} s.`
    return { passed: false, exitCode: null, output }
  }
}
