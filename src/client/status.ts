import { print, readArguments } from '../cli/command.ts'
import type { Command } from '../cli/command.ts'
import { AppError } from '../platform/errors.ts'
import { spawnBrowser } from './browser.ts'
import { isUnderWay } from './deploy.ts'
import { answer, note, printJson, table } from './say.ts'
import {
  environmentPath,
  findApp,
  findProject,
  linkTo,
  removeLink,
  targetOptions,
  targetUsage,
} from './target.ts'
import type { AppEnvironment, Deployment } from './types.ts'
import { repositoryRoot } from './working-copy.ts'

/** What runs in each environment, and what is under way. */
export const status: Command = async (args, env) => {
  const asked = readArguments(args, {
    usage: `davit status ${targetUsage}`,
    options: targetOptions,
  })
  const { server, project } = await findProject(asked, env)
  const all = await server.list<AppEnvironment>(`/projects/${project.id}/envs`)
  const chosen = all.filter(({ name }) => asked.env === undefined || name === asked.env)
  if (chosen.length === 0)
    throw new AppError('not_found', `${project.name} has no environment ${asked.env ?? 'yet'}.`)
  const environments = await Promise.all(
    chosen.reverse().map(async (environment) => {
      const path = `${environmentPath(environment)}/deployments?limit=1`
      const { items } = await server.get<{ items: Deployment[] }>(path)
      return { ...environment, latest: items[0] ?? null }
    }),
  )
  if (asked.json) printJson({ server: server.url, project, environments })
  else {
    print(`${project.name} on ${server.url}/projects/${project.id}`, '')
    print(...table([heads, ...environments.map(rowOf)]))
    for (const { name, pendingChanges } of environments)
      if (pendingChanges.length > 0)
        print('', `${name}: not deployed yet: ${pendingChanges.join(', ')}`)
  }
  return environments.some(({ latest }) => latest?.status === 'failed') ? 1 : 0
}

const heads = ['ENVIRONMENT', 'STATE', 'DEPLOYMENT', 'FROM', 'ADDRESS']

const rowOf = ({ name, live, latest, url }: AppEnvironment & { latest: Deployment | null }) => [
  name,
  stateOf(live, latest),
  latest ? `#${latest.number}` : '',
  latest ? fromOf(latest) : '',
  url ?? '',
]

/** Of what serves; else of the newest deployment. */
function stateOf(live: AppEnvironment['live'], latest: Deployment | null) {
  if (latest && (isUnderWay(latest.status) || latest.status === 'failed')) return latest.status
  if (!live) return latest?.status ?? 'not deployed'
  const states = live.instances.map(({ state }) => state)
  return states.find((state) => state !== 'running') ?? states[0] ?? latest?.status ?? 'running'
}

function fromOf({ commit, upload, pulled }: Deployment) {
  if (pulled) return pulled.reference
  const hash = (upload?.commit ?? commit.hash)?.slice(0, 7) ?? ''
  return upload ? `${hash} uploaded${upload.dirty ? ', dirty' : ''}`.trim() : hash
}

export const open: Command = async (args, env) => {
  const asked = readArguments(args, {
    usage: `davit open [--page] ${targetUsage}`,
    options: { ...targetOptions, page: { type: 'boolean' } },
  })
  const { server, project, environment } = await findApp(asked, env)
  const page = `${server.url}${environmentPath(environment)}`
  const url = asked.page ? page : environment.url
  if (url === null)
    throw new AppError(
      'conflict',
      `${project.name} ${environment.name} has no address. Its page in Davit: davit open --page`,
    )
  answer(asked.json, { url, page }, url)
  if (!asked.json) await spawnBrowser(url)
  return 0
}

/** Links this folder to a project, for where its remotes don't say it. */
export const link: Command = async (args, env) => {
  const {
    project: name,
    remove,
    ...asked
  } = readArguments(args, {
    usage: 'davit link [PROJECT] [--remove] [--server ADDRESS] [--json]',
    optional: 'project',
    options: {
      server: targetOptions.server,
      json: targetOptions.json,
      remove: { type: 'boolean' },
    },
  })
  if (remove) {
    await removeLink()
    note('This folder isn’t linked to a project any more.')
    return 0
  }
  await repositoryRoot() // its configuration keeps the link
  const { server, project } = await findProject({ ...asked, project: name }, env)
  await linkTo(server, project)
  if (asked.json) printJson({ server: server.url, project })
  return 0
}
