import type { Abortable, Engine } from './engine.ts'
import { EngineError, isContainerGone } from './failures.ts'
import { FrameSplitter } from './log-entries.ts'

export type CommandResult = {
  exitCode: number
  /** The first 4 KiB of its output, up to the last complete line. */
  output: string
}

/** Bytes of output that are kept. */
const maxKept = 4096

/** Bytes that are read: a command that writes more blocks until the signal aborts. */
const maxRead = 8 * 1024 * 1024

/** Milliseconds between checks of a command whose output has ended, but which is still running. */
const interval = 50

/**
 * Runs a command in a running container, as the container's user and with its variables, and waits for its
 * end. One that can't be started ends like in a shell, with exit code 126. Aborting only stops waiting: the
 * command continues. Throws an EngineError with status 404 or 409 when the container doesn't run.
 */
export async function runInContainer(
  engine: Engine,
  id: string,
  {
    command,
    env = {},
    signal,
  }: { command: string[]; env?: Readonly<Record<string, string>> } & Abortable,
): Promise<CommandResult> {
  const Env = Object.entries(env).map((pair) => pair.join('='))
  const body = { Cmd: command, Env, AttachStdout: true, AttachStderr: true }
  const path = `/containers/${encodeURIComponent(id)}/exec`
  const { Id } = await engine.request<{ Id: string }>('POST', path, { body, signal })
  let output: string
  try {
    output = await readOutput(engine, Id, signal)
  } catch (error) {
    if (!(error instanceof EngineError) || isContainerGone(error)) throw error
    return { exitCode: 126, output: error.message }
  }
  return { exitCode: await exitCodeOf(engine, Id, signal), output }
}

async function readOutput(engine: Engine, exec: string, signal: AbortSignal | undefined) {
  const kept: Uint8Array[] = []
  const frames = new FrameSplitter()
  let size = 0
  const body = { Detach: false, Tty: false }
  for await (const chunk of engine.stream('POST', `/exec/${exec}/start`, { body, signal })) {
    frames.push(chunk, (_, bytes, from, end) => {
      if (size < maxKept)
        kept.push(bytes.subarray(from, Math.min(end, from + maxKept - size)).slice())
      size += end - from
    })
    if (size > maxRead) await aborted(signal)
  }
  const text = Buffer.concat(kept).toString()
  return size > maxKept ? text.slice(0, text.lastIndexOf('\n') + 1) : text
}

/** The engine reports the end of the output and of the command separately. */
export async function exitCodeOf(engine: Engine, exec: string, signal: AbortSignal | undefined) {
  type Inspected = { Running: boolean; ExitCode: number | null }
  for (;;) {
    const found = await engine.request<Inspected>('GET', `/exec/${exec}/json`, { signal })
    if (!found.Running) return found.ExitCode ?? 0
    await Bun.sleep(interval)
  }
}

const aborted = (signal: AbortSignal | undefined) =>
  new Promise<never>((_, reject) =>
    signal?.addEventListener('abort', () => reject(signal.reason), { once: true }),
  )
