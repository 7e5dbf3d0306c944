import { hasShare } from '../db/watch-schema.ts'
import { AppError } from '../platform/errors.ts'
import { counted } from '../web/units.ts'
import { print, readArguments, UsageError, warn } from '../cli/command.ts'
import type { Command, Environment } from '../cli/command.ts'
import type { Server } from './call.ts'
import { follow } from './follow.ts'
import { interruption } from './interruption.ts'
import { answer, note, printJson, printLine } from './say.ts'
import { environmentPath, findApp, targetOptions, targetUsage } from './target.ts'
import type { Deployment, Planned } from './types.ts'
import { upload } from './upload.ts'
import { readWorkingCopy } from './working-copy.ts'
import type { WorkingCopy } from './working-copy.ts'

const usage = `davit deploy [--dirty | --at TIME] [--share PERCENT [--sticky]] [--no-cache] [--note TEXT] [--detach] ${targetUsage}`

const options = {
  ...targetOptions,
  dirty: { type: 'boolean' },
  'no-cache': { type: 'boolean' },
  detach: { type: 'boolean' },
  at: { type: 'string' },
  note: { type: 'string' },
  share: { type: 'string' },
  sticky: { type: 'boolean' },
} as const

type Values = ReturnType<typeof readArguments<typeof options>>

/** Deploys the files of this folder's repository, and follows it to its end. */
export const deploy: Command = async (args, env) => {
  const asked = readArguments(args, { usage, options })
  const share = shareIn(asked)
  if (asked.at !== undefined) return planned({ ...asked, at: asked.at }, env)
  const copy = await readWorkingCopy({ untracked: asked.dirty === true })
  const { server, project, environment } = await findApp(asked, env)
  note(`Deploying ${wordsOf(copy)} to ${project.name} ${environment.name} on ${server.url}`)
  if (copy.leftOut > 0)
    note(`${counted(copy.leftOut, 'file')} that git doesn’t track left out; --dirty sends them.`)
  using interrupted = interruption()
  const deployment = await upload(server, copy, {
    path: `/projects/${project.id}/uploads?${queryOf(copy, { environmentId: environment.id, noCache: asked['no-cache'], note: asked.note, ...share })}`,
    signal: interrupted.signal,
  })
  if (deployment === null) {
    note('Interrupted. Nothing was deployed.')
    return interrupted.status
  }
  const page = `${server.url}${pathOf(deployment)}`
  note(`Deployment #${deployment.number}: ${page}`)
  if (asked.detach) return answer(asked.json, deployment, page)
  try {
    const path = `${pathOf(deployment)}/logs?format=json`
    for await (const line of follow(server, path, { signal: interrupted.signal }))
      printLine(line, process.stderr)
  } catch (error) {
    if (!interrupted.signal.aborted) throw error
    note(
      `Deployment #${deployment.number} goes on. To cancel it: davit cancel${asked.env ? ` --env ${asked.env}` : ''}`,
    )
    return interrupted.status
  }
  const ended = await server.get<Deployment>(pathOf(deployment))
  if (asked.json) printJson(ended)
  return ended.status === 'running' ? succeeded(ended, asked.json) : failed(ended)
}

const pathOf = ({ projectId, id }: Deployment) => `/projects/${projectId}/deployments/${id}`

const wordsOf = ({ paths, commit, dirty }: WorkingCopy) =>
  [
    counted(paths.length, 'file'),
    ...(commit ? [` from commit ${commit.slice(0, 7)}`] : []),
    ...(commit && dirty ? [', dirty,'] : []),
  ].join('')

function queryOf(
  { commit, message, branch, dirty }: WorkingCopy,
  {
    noCache,
    ...more
  }: { environmentId: string; noCache: boolean | undefined; note: string | undefined } & Share,
) {
  const said = { ...more, commit, message, branch, dirty: dirty ? '1' : null }
  const given = Object.entries({ ...said, noCache: noCache ? '1' : null })
  return new URLSearchParams(
    given.flatMap(([key, value]): [string, string][] => (value ? [[key, value]] : [])),
  )
}

type Share = { strategy?: string; percent?: string; sticky?: string }

/** The server checks the number. */
function shareIn({ share, sticky, at }: Values): Share {
  if (share === undefined) {
    if (sticky) throw new UsageError('--sticky needs --share PERCENT.')
    return {}
  }
  if (at !== undefined) throw new UsageError('--share can’t be combined with --at.')
  return { strategy: 'share', percent: share, ...(sticky && { sticky: '1' }) }
}

function succeeded({ number, url, watch }: Deployment, json: boolean | undefined) {
  note(`Deployment #${number} is running.`, 'green')
  if (watch?.share)
    note(
      `It gets ${watch.share.percent} % of the requests, at most for 24 hours: davit promote gives it all, davit cancel takes it back.`,
    )
  if (url && !json) print(url)
  return 0
}

function failed({ number, status, error }: Deployment) {
  note(`Deployment #${number} is ${status}.`, 'red')
  if (error) warn(`${error.message} ${error.hint ?? ''}`.trim())
  return 1
}

/** Plans a deployment of what the server finds in the repository at a time: files aren't kept that long. */
async function planned(asked: Values & { at: string }, env: Environment) {
  if (asked.dirty) throw new UsageError('--at deploys what is pushed by then, so not with --dirty.')
  if (asked.note !== undefined)
    throw new UsageError('--note is for what can’t wait for the end of a freeze, so not with --at.')
  const { server, project, environment } = await findApp(asked, env)
  const zone = new Intl.DateTimeFormat().resolvedOptions().timeZone
  const plan = await server.post<Planned>(`${environmentPath(environment)}/planned`, {
    ...{ at: asked.at, zone, noCache: asked['no-cache'] ?? false },
  })
  const at = new Date(plan.at).toLocaleString('en-GB', { timeZoneName: 'short' })
  const said = `${project.name} ${environment.name} is deployed on ${at}: what is pushed by then.`
  return answer(asked.json, plan, said)
}

/** Gives all requests to the version that has a share of them. */
export const promote: Command = async (args, env) => {
  const asked = readArguments(args, {
    usage: `davit promote [--note TEXT] ${targetUsage}`,
    options: { ...targetOptions, note: { type: 'string' } },
  })
  const { server, project, environment } = await findApp(asked, env)
  const shared = (await newest(server, environment)).find(hasShare)
  if (!shared)
    throw new AppError(
      'conflict',
      `No version of ${project.name} ${environment.name} has a share of the requests.`,
    )
  const promoted = await server.post<Deployment>(`${pathOf(shared)}/promote`, {
    note: asked.note,
  })
  return answer(asked.json, promoted, `Deployment #${shared.number} gets all requests.`)
}

const newest = async (server: Server, environment: Parameters<typeof environmentPath>[0]) =>
  (
    await server.get<{ items: Deployment[] }>(
      `${environmentPath(environment)}/deployments?limit=10`,
    )
  ).items

/** Cancels what is under way in an environment or has a share of its requests, or else what is planned. */
export const cancel: Command = async (args, env) => {
  const asked = readArguments(args, {
    usage: `davit cancel ${targetUsage}`,
    options: targetOptions,
  })
  const { server, project, environment } = await findApp(asked, env)
  const items = await newest(server, environment)
  const open = items.find(({ status }) => isUnderWay(status)) ?? items.find(hasShare)
  const path = `${environmentPath(environment)}/planned`
  if (!open && (await server.get<{ planned: Planned | null }>(path)).planned) {
    await server.ask(path, { method: 'DELETE' })
    return answer(asked.json, {}, 'The planned deployment is cancelled.')
  }
  if (!open)
    throw new AppError(
      'conflict',
      `No deployment of ${project.name} ${environment.name} is under way.`,
    )
  const cancelled = await server.post<Deployment>(`${pathOf(open)}/cancel`)
  const said = `Deployment #${open.number} is ${isUnderWay(cancelled.status) ? 'being ' : ''}cancelled.`
  return answer(asked.json, cancelled, said)
}

export const isUnderWay = (status: Deployment['status']) =>
  ['waiting', 'pending', 'cloning', 'building', 'deploying'].includes(status)
