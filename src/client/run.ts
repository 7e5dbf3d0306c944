import { UsageError } from '../cli/command.ts'
import type { Command } from '../cli/command.ts'
import { AppError } from '../platform/errors.ts'
import { readBeforeCommand } from './arguments.ts'
import { attach } from './attach.ts'
import type { Server } from './call.ts'
import { follow } from './follow.ts'
import { interruption } from './interruption.ts'
import { note, printJsonLine, printLine } from './say.ts'
import { hasInput, sendInput } from './send-input.ts'
import { findApp, targetOptions, targetUsage } from './target.ts'
import type { Run } from './types.ts'

const usage = `davit run [--no-terminal] [--timeout SECONDS] ${targetUsage} COMMAND [ARGUMENT]…`

/** The status when Davit, and not the command, failed; as of `docker run`. */
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
  const ended = isOnTerminal ? await attach(server, at) : await watch(server, at, values.json)
  if (values.json) printJsonLine(ended)
  return statusOf(ended)
}

async function watch(server: Server, path: string, json: boolean | undefined): Promise<Run> {
  using interrupted = interruption()
  const { signal } = interrupted
  try {
    for await (const event of follow(server, `${path}/logs?format=json`, { signal })) {
      if (!('line' in event)) continue
      if (json) printJsonLine(event.line)
      // what Davit itself says of it isn't the command's output
      else if (event.line.stream === 'stdout') printLine(event.line, process.stdout)
      else if (event.line.stream === 'stderr') printLine(event.line, process.stderr)
    }
  } catch (error) {
    if (!signal.aborted) throw error
    note('Cancelling the command…')
    await server.post(`${path}/cancel`).catch((refusal) => {
      if (!(refusal instanceof AppError && refusal.code === 'conflict')) throw refusal // it has ended
    })
  }
  return server.get<Run>(path)
}

function statusOf({ status, exitCode, error }: Run) {
  if (error) note(`davit: ${error.message} ${error.hint ?? ''}`.trimEnd())
  if (exitCode !== null) return exitCode
  return status === 'cancelled' ? 130 : status === 'succeeded' ? 0 : notRun
}
