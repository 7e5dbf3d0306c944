import { isTerminal } from '../cli/ask.ts'
import { UsageError } from '../cli/command.ts'
import type { Environment } from '../cli/command.ts'
import { follows } from '../environments/followed.ts'
import { AppError } from '../platform/errors.ts'
import { Server } from './call.ts'
import { choose } from './choose.ts'
import { note } from './say.ts'
import { loginFor } from './servers.ts'
import type { AppEnvironment, Project } from './types.ts'
import { askGit, git, listRemotes, sameRepository } from './working-copy.ts'

/** The options of every command about an app. */
export const targetOptions = {
  server: { type: 'string' },
  project: { type: 'string' },
  env: { type: 'string' },
  json: { type: 'boolean' },
} as const

export const targetUsage = '[--server ADDRESS] [--project PROJECT] [--env NAME] [--json]'

type TargetQuery = Partial<Record<'server' | 'project' | 'env', string | undefined>>

/** In the configuration of the repository, which git never publishes. */
const linked = { server: 'davit.server', project: 'davit.project' }

/** The server and the project of this folder: named, linked, or found by its remotes. */
export async function findProject(query: TargetQuery, env: Environment) {
  const [linkedServer, linkedProject] = await Promise.all([
    askGit('config', '--get', linked.server),
    query.project ? null : askGit('config', '--get', linked.project),
  ])
  const named = query.server ?? (env.DAVIT_SERVER || linkedServer || undefined)
  const server = new Server(await loginFor({ server: named }, env))
  const projects = (await server.list<Project>('/projects')).filter(({ deleting }) => !deleting)
  const wanted = query.project ?? linkedProject
  const found = projects.filter(({ id, name }) => wanted === id || wanted === name)
  if (found[0]) return { server, project: found[0] }
  if (query.project !== undefined)
    throw new AppError('not_found', `${server.url} has no project ${wanted}. ${namesOf(projects)}`)
  if (linkedProject)
    throw new AppError(
      'not_found',
      `The project that this folder is linked to isn’t on ${server.url} any more. Run davit link PROJECT.`,
    )
  return { server, project: await byRemote(server, projects) }
}

async function byRemote(server: Server, projects: Project[]): Promise<Project> {
  const remotes = (await listRemotes()).map(sameRepository)
  const ofRemote = projects.filter(
    ({ repositoryUrl: url }) => url && remotes.includes(sameRepository(url)),
  )
  const folder = ((await askGit('rev-parse', '--show-prefix')) ?? '').replace(/\/$/, '')
  const here = ofRemote.filter(({ contextDir: dir }) => isInside(folder, dir))
  const nearest = Math.max(...here.map(({ contextDir }) => contextDir.length))
  const found = here.filter(({ contextDir }) => contextDir.length === nearest)
  if (found.length === 1) return found[0]!
  const candidates = found.length > 0 ? found : ofRemote.length > 0 ? ofRemote : projects
  if (candidates.length === 0)
    throw new AppError(
      'not_found',
      `You have no projects on ${server.url}. Create one there first.`,
    )
  if (!isTerminal())
    throw new UsageError(
      `${ofRemote.length > 0 ? 'several projects are built from this repository' : 'no project is built from this repository'}. Name one with --project, or run davit link PROJECT. ${namesOf(candidates)}`,
    )
  const project = await choose('Which project is this folder?', candidates, ({ name }) => name)
  // a link is for the whole repository, and would outdo the folder where that decides
  const isAnyFolder = new Set(ofRemote.map(({ contextDir }) => contextDir)).size <= 1
  if (isAnyFolder) await linkTo(server, project)
  return project
}

/** A project of the whole repository, or of a folder around this one. */
const isInside = (folder: string, dir: string) =>
  dir === '.' || folder === dir || folder.startsWith(`${dir}/`)

const namesOf = (projects: Project[]) =>
  projects.length === 0
    ? 'There are none.'
    : `There are: ${projects.map(({ name }) => name).join(', ')}.`

export async function linkTo(server: Server, project: Project) {
  if ((await askGit('rev-parse', '--git-dir')) === null) return
  await git(['config', linked.server, server.url])
  await git(['config', linked.project, project.id])
  note(`This folder is linked to ${project.name} on ${server.url}. Undo: davit link --remove`)
}

/** One after the other, as git locks its configuration. */
export async function removeLink() {
  for (const key of Object.values(linked)) await askGit('config', '--unset', key)
}

/**
 * Also the environment: the named one, the only one besides previews, or the one that follows the checked-out
 * branch: of previews only if no other does.
 */
export async function findApp(query: TargetQuery, env: Environment) {
  const { server, project } = await findProject(query, env)
  const all = await server.list<AppEnvironment>(`/projects/${project.id}/envs`)
  const environments = all.filter(({ deleting }) => !deleting).reverse()
  const names = environments.map(({ name }) => name).join(', ')
  const named = environments.find(({ id, name }) => query.env === name || query.env === id)
  if (named) return { server, project, environment: named }
  if (query.env !== undefined)
    throw new AppError(
      'not_found',
      `${project.name} has no environment ${query.env}. There are: ${names}.`,
    )
  const lasting = environments.filter(({ preview }) => !preview) // an older server has none
  if (lasting.length === 1) return { server, project, environment: lasting[0]! }
  const branch = await askGit('symbolic-ref', '--quiet', '--short', 'HEAD')
  const isFollowing = (environment: AppEnvironment) =>
    branch !== null &&
    follows({ environment, project }, { type: 'branch', name: branch, isDefault: false })
  const ofLasting = lasting.filter(isFollowing)
  const own = environments.filter(({ preview }) => preview && !preview.fork) // strangers make the others
  const following = ofLasting.length > 0 ? ofLasting : own.filter(isFollowing)
  if (following.length === 1) return { server, project, environment: following[0]! }
  if (!isTerminal())
    throw new UsageError(
      `${project.name} has several environments. Choose one with --env: ${names}.`,
    )
  const environment = await choose('Which environment?', environments, ({ name }) => name)
  return { server, project, environment }
}

export const environmentPath = ({ projectId, id }: Pick<AppEnvironment, 'projectId' | 'id'>) =>
  `/projects/${projectId}/envs/${id}`
