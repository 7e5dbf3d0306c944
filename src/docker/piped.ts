import type { Duplex } from 'node:stream'
import { Failure } from '../platform/errors.ts'
import { detachKeys } from './attach.ts'
import { inspectContainer, inspectEnded } from './container-inspect.ts'
import { createContainer, removeContainer, startContainer, waitForExit } from './containers.ts'
import type { ContainerOptions } from './container-config.ts'
import type { Engine } from './engine.ts'
import { exitCodeOf } from './exec.ts'
import { isContainerGone } from './failures.ts'
import { drain, inputOf, Output } from './piped-streams.ts'
import type { Streams } from './piped-streams.ts'
import { orNull } from './refusals.ts'

export type PipedOptions = Omit<ContainerOptions, 'tty' | 'logs' | 'piped'> & Streams

export type PipedResult = {
  exitCode: number
  oomKilled: boolean
  /** By default its last 8 KiB. */
  stderr: string
}

/** Milliseconds between the end of the output and of the process. */
const exitTimeout = 30_000

/**
 * Runs a container to its end with its input and output as streams, which the engine doesn't log, and removes
 * it in any case. An error of either stream ends the container and is thrown; the caller judges the exit code.
 */
export async function runPiped(engine: Engine, options: PipedOptions): Promise<PipedResult> {
  const { signal } = options
  const mark = markOf(options)
  const env = { ...options.env, ...mark.env }
  const id = await createContainer(engine, { ...options, env, piped: true, signal })
  let removing: Promise<unknown> | null = null // a second removal meanwhile would wait for its next try
  const remove = () =>
    (removing ??= removeContainer(engine, id, { force: true, volumes: true }).finally(
      () => (removing = null),
    ))
  return pipe(options, mark.text, {
    ...{ containerId: id, kill: remove, end: remove },
    connect: (signal) => attach(engine, id, signal),
    start: () => startContainer(engine, id, { signal }),
    async exit(over) {
      await waitForExit(engine, id, { signal: over })
      return inspectEnded(engine, id, { signal })
    },
  })
}

/** Like `runPiped`, in a container that runs, which `kill` must end: the engine can't end one of its processes. */
export async function execPiped(
  engine: Engine,
  id: string,
  {
    command,
    env = {},
    kill,
    ...streams
  }: Streams & { command: string[]; env?: Record<string, string>; kill: () => Promise<unknown> },
): Promise<PipedResult> {
  const mark = markOf(streams)
  const Env = Object.entries({ ...env, ...mark.env }).map((pair) => pair.join('='))
  const attached = { AttachStdin: true, AttachStdout: true, AttachStderr: true }
  const body = { Cmd: command, Env, ...attached, DetachKeys: detachKeys }
  const path = `/containers/${encodeURIComponent(id)}/exec`
  try {
    const { signal } = streams
    const { Id: exec } = await engine.request<{ Id: string }>('POST', path, { body, signal })
    return await pipe(streams, mark.text, {
      ...{ containerId: id, kill, end: async () => {}, start: async () => {} },
      connect: (signal) =>
        engine.hijack(`/exec/${exec}/start`, { body: { Detach: false, Tty: false }, signal }),
      async exit(over) {
        const exitCode = await orNull(exitCodeOf(engine, exec, over))
        if (exitCode === null || exitCode === 0) return exitCode === 0 ? succeeded : null
        const found = await inspectContainer(engine, id, { signal })
        return { exitCode, oomKilled: found?.oomKilled ?? false }
      },
    })
  } catch (error) {
    throw isContainerGone(error) ? cutShort('its container ended') : error
  }
}

const succeeded = { exitCode: 0, oomKilled: false }

function markOf({ isMarked = false }: Streams) {
  const text = isMarked ? `davit-end-${crypto.randomUUID()}` : null
  return { text, env: text === null ? {} : { DAVIT_END: text } }
}

type Process = {
  containerId: string
  connect: (signal: AbortSignal) => Promise<Duplex>
  start: () => Promise<unknown>
  /** Null once its container is gone. */
  exit: (signal: AbortSignal) => Promise<Omit<PipedResult, 'stderr'> | null>
  /** Ends it early, with what it started. */
  kill: () => Promise<unknown>
  /** Called once it has ended. */
  end: () => Promise<unknown>
}

async function pipe(
  { stdin, onStderr, stdout, maxStderr = 8192, signal }: Streams,
  mark: string | null,
  process: Process,
): Promise<PipedResult> {
  let connection: Duplex | undefined
  const stop = new AbortController()
  const either = signal ? AbortSignal.any([signal, stop.signal]) : stop.signal
  // in this order: the end of the connection is the end of its input, which it would take for complete
  const close = (end: () => Promise<unknown>) => end().finally(() => connection?.destroy())
  const abort = () => void close(process.kill).catch(() => {})
  try {
    connection = await process.connect(either)
    connection.on('error', () => {}) // the reader gets the error
    either.addEventListener('abort', abort, { once: true })
    either.throwIfAborted()
    await process.start()
    const output = new Output(connection, { mark, maxStderr, onStderr })
    const input = inputOf(connection, output)
    const failed = (error: unknown) => {
      stop.abort(error)
      throw error
    }
    // its input stays open until the mark was read: only then may the process end
    const fed = stdin
      ? stdin(input, either, process.containerId).then(
          () => void input.end(),
          (error) => output.ended || failed(error),
        )
      : mark === null && input.end()
    const read = drain(output, stdout, either).catch(failed)
    await Promise.all([read, fed])
    if (mark !== null) input.end()
    await output.closed
    const ended = await process.exit(AbortSignal.any([either, AbortSignal.timeout(exitTimeout)]))
    if (!ended) throw cutShort('its container was removed')
    const { exitCode, oomKilled } = ended
    if (exitCode === 0 && mark !== null && !output.marked) throw cutShort('the output was cut')
    either.removeEventListener('abort', abort)
    await close(process.end)
    return { exitCode, oomKilled, stderr: output.stderr }
  } catch (error) {
    await close(process.kill)
    throw either.aborted ? either.reason : error
  }
}

function attach(engine: Engine, id: string, signal: AbortSignal) {
  const path = `/containers/${encodeURIComponent(id)}/attach`
  const query = { stream: true, stdin: true, stdout: true, stderr: true, detachKeys }
  return engine.hijack(path, { query, signal })
}

const cutShort = (why: string) =>
  new Failure(
    'cut_short',
    `The connection to a container ended too early: ${why}.`,
    'Check that Docker wasn’t restarted, then try again.',
  )
