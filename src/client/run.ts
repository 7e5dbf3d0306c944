import { UsageError, readMany } from '../cli/command.ts'
import type { Command, Options } from '../cli/command.ts'
import { AppError } from '../platform/errors.ts'
import type { Server } from './call.ts'
import { isLoss } from '../logs/losses.ts'
import { follow, isPassing } from './follow.ts'
import { interruption } from './interruption.ts'
import { note, printJsonLine, printLine } from './say.ts'
import { hasInput, openAttach, sendInput } from './send-input.ts'
import { findApp, targetOptions, targetUsage } from './target.ts'
import type { Run } from './types.ts'
import { setTimeout as sleep } from 'node:timers/promises'

const usage = `davit run [--no-terminal] [--timeout SECONDS] ${targetUsage} COMMAND [ARGUMENT]…`

/** The status when Davit, and not the command, failed; as of `docker run`. Also when output is missing. */
const notRun = 125

/** Runs a command beside the app, on a terminal of its own if this one is one. Its status is the command's. */
export const run: Command = async (args, env) => {
  const { values, command } = readBeforeCommand(args, {
    usage,
    options: { ...targetOptions, 'no-terminal': { type: 'boolean' }, timeout: { type: 'string' } },
  })
  if (values.timeout !== undefined && !/^\d{1,5}$/.test(values.timeout))
    throw new UsageError('--timeout must be a number of seconds.')
  const { server, environment } = await findApp(values, env)
  const isOnTerminal =
    !values['no-terminal'] && !values.json && process.stdin.isTTY && process.stdout.isTTY
  const isPiped = !isOnTerminal && hasInput()
  const path = `/envs/${environment.id}/runs`
  const started = await server.post<Run>(path, {
    command: command.length === 1 ? command[0] : command,
    attach: isOnTerminal,
    stdin: isPiped,
    ...(values.timeout !== undefined && { timeout: Number(values.timeout) }),
  })
  const at = `${path}/${started.id}`
  if (isPiped) void sendInput(server, at)
  const { ended, isWhole } = isOnTerminal
    ? { ended: await attach(server, at), isWhole: true }
    : await watch(server, at, values.json)
  if (values.json) printJsonLine(ended)
  return statusOf(ended) || (isWhole ? 0 : notRun)
}

async function watch(server: Server, path: string, json: boolean | undefined) {
  let isWhole = true
  using interrupted = interruption()
  const { signal } = interrupted
  try {
    for await (const line of follow(server, `${path}/logs?format=json`, { signal })) {
      if (isLoss(line)) {
        isWhole = false
        note(`davit: ${line.text}`)
      }
      if (json) printJsonLine(line)
      // what Davit itself says of it isn't the command's output
      else if (line.stream === 'stdout') printLine(line, process.stdout)
      else if (line.stream === 'stderr') printLine(line, process.stderr)
    }
  } catch (error) {
    if (!signal.aborted) throw error
    note('Cancelling the command…')
    await cancel(server, path)
  }
  return { ended: await server.get<Run>(path), isWhole }
}

const cancel = (server: Server, path: string) =>
  server.post(`${path}/cancel`).catch((refusal) => {
    if (!(refusal instanceof AppError && refusal.code === 'conflict')) throw refusal // it has ended
  })

function statusOf({ status, exitCode, error }: Run) {
  if (error) note(`davit: ${error.message} ${error.hint ?? ''}`.trimEnd())
  if (exitCode !== null) return exitCode
  return status === 'cancelled' ? 130 : status === 'succeeded' ? 0 : notRun
}

/** Milliseconds between two attempts to attach again, and how many there are. */
const again = { pause: 1000, most: 30 }

/** Joins this terminal to that of a run until the run has ended; its settings are restored whatever happens. */
async function attach(server: Server, path: string): Promise<Run> {
  const terminal = new RawTerminal()
  // whoever closes the window ends the command, as over ssh
  const leave = () => {
    terminal.restore()
    void server.post(`${path}/cancel`).finally(() => process.exit(143))
  }
  process.on('SIGTERM', leave).on('SIGHUP', leave)
  try {
    for (let attempt = 0; ; attempt++) {
      const isOver = await joined(server, path, terminal)
      const run = await stateOf(server, path)
      if (run && (isOver || !isGoingOn(run))) return run
      const refusal = run?.status === 'pending' ? await whyRefused(server, path) : null
      if (refusal || (run?.status === 'pending' && attempt >= again.most)) {
        await cancel(server, path)
        throw refusal ?? neverJoined()
      }
      if (attempt >= again.most)
        throw new AppError(
          'unavailable',
          'The connection was lost. The command goes on without it.',
        )
      if (attempt === 0) note('\nThe connection was lost. Trying again…')
      await sleep(again.pause)
    }
  } finally {
    terminal.restore()
    process.off('SIGTERM', leave).off('SIGHUP', leave)
  }
}

const isGoingOn = ({ status }: Run) => status === 'pending' || status === 'running'

/** Null while the server can't be reached, or a proxy responds in its place. */
const stateOf = (server: Server, path: string) =>
  server.get<Run>(path).catch((error) => {
    if (isPassing(error)) return null
    throw error
  })

/** A WebSocket can't say why it isn't let in. Null unless the user has too many streams. */
const whyRefused = (server: Server, path: string) =>
  server.get(`${path}/attach`).then(
    () => null,
    (error) => (error instanceof AppError && error.code === 'too_many' ? error : null),
  )

const neverJoined = () =>
  new AppError(
    'unavailable',
    'The command was not started: this terminal could not be joined to it. A proxy in front of Davit must pass WebSockets through; --no-terminal needs none.',
  )

/** True when the run has said its end, false when the connection was lost. */
function joined(server: Server, path: string, terminal: RawTerminal): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const socket = openAttach(server, path)
  socket.binaryType = 'arraybuffer'
  const resize = () => socket.send(JSON.stringify({ resize: terminal.size }))
  const type = (bytes: Buffer) => socket.send(new Uint8Array(bytes))
  let isOver = false
  socket.onopen = () => {
    terminal.join(type, resize)
    resize()
  }
  socket.onmessage = ({ data }) => {
    if (typeof data !== 'string') return void process.stdout.write(Buffer.from(data as ArrayBuffer))
    if ('ended' in JSON.parse(data)) isOver = true
  }
  socket.onclose = () => {
    terminal.part(type, resize)
    resolve(isOver)
  }
  socket.onerror = () => {} // followed by its close
  return promise
}

/** Passes on each key, Ctrl-C too, while a socket is joined. */
class RawTerminal {
  get size() {
    const { columns = 80, rows = 24 } = process.stdout
    return [Math.min(columns, 1000) || 80, Math.min(rows, 1000) || 24]
  }

  join(type: (bytes: Buffer) => void, resize: () => void) {
    process.stdin.setRawMode(true)
    process.stdin.on('data', type).resume()
    process.stdout.on('resize', resize)
  }

  part(type: (bytes: Buffer) => void, resize: () => void) {
    process.stdin.off('data', type)
    process.stdout.off('resize', resize)
    this.restore() // so that Ctrl-C ends an attempt to attach again
  }

  restore() {
    process.stdin.setRawMode(false)
    process.stdin.pause()
  }
}

/** Options, and then a command with options of its own. */
function readBeforeCommand<Known extends Options>(
  args: string[],
  { usage, options }: { usage: string; options: Known },
) {
  let at = 0
  while (at < args.length && args[at]!.startsWith('-') && args[at] !== '--') {
    const [, name, value] = /^--?([\w-]+)(=.*)?$/.exec(args[at]!) ?? []
    const takesNext = value === undefined && options[name ?? '']?.type === 'string'
    at += takesNext ? 2 : 1
  }
  const { values } = readMany(args.slice(0, at), { usage, options })
  const command = args.slice(args[at] === '--' ? at + 1 : at)
  if (command.length === 0) throw new UsageError(`usage: ${usage}`)
  return { values, command }
}
