import { UsageError, readArguments } from '../cli/command.ts'
import type { Command } from '../cli/command.ts'
import { AppError } from '../platform/errors.ts'
import type { Server } from './call.ts'
import { isUnderWay } from './deploy.ts'
import { follow } from './follow.ts'
import { interruption } from './interruption.ts'
import { printJsonLine, printLine } from './say.ts'
import { environmentPath, findApp, targetOptions, targetUsage } from './target.ts'
import type { AppEnvironment, Deployment, LogLine, OutputLine } from './types.ts'

const usage = `davit logs [--follow] [--lines N] [--since TIME] [--search TEXT] [--level LEVEL] [--process NAME] [--deployment N] ${targetUsage}`

const options = {
  ...targetOptions,
  follow: { type: 'boolean', short: 'f' },
  lines: { type: 'string', short: 'n' },
  since: { type: 'string' },
  search: { type: 'string' },
  level: { type: 'string' },
  process: { type: 'string' },
  deployment: { type: 'string' },
} as const

/** What an app writes, or the log of a deployment. */
export const logs: Command = async (args, env) => {
  const asked = readArguments(args, { usage, options })
  const lines = asked.lines ?? '100'
  if (!/^\d{1,5}$/.test(lines) || Number(lines) < 1 || Number(lines) > 10_000)
    throw new UsageError('--lines must be a number from 1 to 10000.')
  if (asked.follow && (asked.search !== undefined || asked.since !== undefined))
    throw new UsageError('--follow can’t be combined with --search or --since.')
  if (asked.deployment !== undefined && asked.process !== undefined)
    throw new UsageError('--process is for what an app writes, not for --deployment.')
  const { server, environment } = await findApp(asked, env)
  const print = (line: LogLine) =>
    asked.json ? printJsonLine(line) : printLine(line, process.stdout)
  const { path, stream, isEnded } = await logOf(server, environment, asked.deployment)

  const { level, since, search, process: name } = asked
  const query = Object.entries({ level, since, search, process: name })
  const filter = query.flatMap(([key, value]): [string, string][] =>
    value === undefined ? [] : [[key, value]],
  )
  const last = await lastLines(server, path, { filter, limit: Number(lines) })
  for (const line of last) print(line)
  if (!asked.follow || isEnded) return 0
  using interrupted = interruption()
  const { signal } = interrupted
  const after = last.at(-1)?.seq ?? 0
  const followed = `${stream}?${new URLSearchParams([['format', 'json'], ...filter])}`
  try {
    for await (const line of follow<OutputLine>(server, followed, { signal, after })) print(line)
  } catch (error) {
    if (!signal.aborted) throw error
  }
  return interrupted.status
}

async function logOf(server: Server, environment: AppEnvironment, number: string | undefined) {
  const at = environmentPath(environment)
  if (number === undefined)
    return { path: `${at}/output`, stream: `${at}/output/stream`, isEnded: false }
  const deployment = await findDeployment(server, environment, number)
  const path = `/projects/${deployment.projectId}/deployments/${deployment.id}/logs`
  return { path, stream: path, isEnded: !isUnderWay(deployment.status) }
}

/** By its number, or `latest`. */
async function findDeployment(server: Server, environment: AppEnvironment, number: string) {
  for await (const one of server.each<Deployment>(`${environmentPath(environment)}/deployments`))
    if (number === 'latest' || String(one.number) === number) return one
  throw new AppError('not_found', `${environment.name} has no deployment #${number}.`)
}

type LogPage = { items: LogLine[]; previousCursor?: string }

/** In their order. The server returns fewer at a time when they are long, or take long to find. */
export async function lastLines(
  server: Server,
  path: string,
  { filter, limit }: { filter: [string, string][]; limit: number },
) {
  const lines: LogLine[] = []
  for (let before: string | undefined = '999999999999999'; before && lines.length < limit;) {
    const query = new URLSearchParams([
      ['before', before],
      ['limit', String(limit - lines.length)],
      ...filter,
    ])
    const page: LogPage = await server.get(`${path}?${query}`)
    lines.unshift(...page.items)
    before = page.previousCursor
  }
  return lines
}
