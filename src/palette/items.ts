import { containerPath } from '../containers/place.ts'
import { contents } from '../docs/documents.ts'
import { environmentPath } from '../environments/paths.ts'
import { servicePath } from '../services/own-service.ts'
import { docPath } from '../web/components.tsx'
import type { User } from '../web/factory.ts'
import type { IconName } from '../web/icons.tsx'
import { byName } from '../web/listing.tsx'
import { settingsPages } from '../web/settings-frame.tsx'
import { sections } from '../web/top-bar.tsx'
import type { Own } from './store.ts'

/** In the order of equally good matches. */
export const kinds = [
  'page',
  'project',
  'environment',
  'service',
  'action',
  'container',
  'server',
  'setting',
  'document',
] as const

/** A page to open, or an action to run. */
export type Item = {
  kind: (typeof kinds)[number]
  icon: IconName
  name: string
  /** Distinguishes items of the same name, and is searched, too. */
  detail: string
  url: string
  /** The fields that an action posts; undefined for a page. */
  fields?: Record<string, string>
}

/** Everything that a user can open or do. */
export const itemsOf = (own: Own, user: Pick<User, 'role'>): Item[] => [
  ...pages,
  ...projectItems(own),
  ...own.services.flatMap(serviceItems),
  ...containerItems(own),
  ...(user.role === 'admin' ? own.servers.map(serverItem) : []),
  ...settingsPages(user).map(({ title, path }): Item => ({
    ...{ kind: 'setting', icon: 'settings', name: title, detail: 'Settings', url: path },
  })),
  ...contents().flatMap(({ entries }) =>
    entries.map(({ name, title, about }): Item => ({
      ...{ kind: 'document', icon: 'book-open', name: title, detail: about, url: docPath(name) },
    })),
  ),
]

const pages: Item[] = [
  ...sections.map(({ name, href, icon }): Item => ({
    kind: 'page',
    icon,
    name,
    detail: '',
    url: href,
  })),
  { kind: 'page', icon: 'book-open', name: 'Documentation', detail: '', url: docPath() },
  { kind: 'page', icon: 'braces', name: 'API', detail: '', url: '/api' },
  { kind: 'page', icon: 'plus', name: 'New project', detail: '', url: '/projects/new' },
  { kind: 'page', icon: 'plus', name: 'New service', detail: 'Catalogue', url: '/services' },
]

function projectItems({ projects, environments, containers }: Own): Item[] {
  const ofProject = Map.groupBy(environments, ({ projectId }) => projectId)
  const ofWorkload = Map.groupBy(containers, ({ workloadId }) => workloadId)
  return projects.flatMap((project): Item[] => {
    const url = `/projects/${project.id}`
    const own = ofProject.get(project.id) ?? []
    return [
      { kind: 'project', icon: 'folder-git-2', name: project.name, detail: 'Project', url },
      ...own.flatMap((environment) =>
        environmentItems({
          project,
          environment,
          isOnly: own.length === 1,
          running: ofWorkload.get(environment.id) ?? [],
        }),
      ),
      {
        ...{ kind: 'setting', icon: 'settings', name: `Settings of ${project.name}` },
        ...{ detail: 'Project', url: `${url}/settings` },
      },
    ]
  })
}

function environmentItems({
  project,
  environment,
  isOnly,
  running,
}: {
  project: Own['projects'][number]
  environment: Own['environments'][number]
  /** If true, the project's name identifies the environment. */
  isOnly: boolean
  running: Own['containers']
}): Item[] {
  const name = `${project.name} / ${environment.name}`
  const short = isOnly ? project.name : name
  const path = environmentPath(environment)
  const acts = `/envs/${environment.id}`
  const isStopped = running.some(({ state }) => state === 'stopped')
  const act: Item = {
    ...{ kind: 'action', detail: environment.name, fields: {} },
    ...(isStopped
      ? { icon: 'play', name: `Start ${short}`, url: `${acts}/start` }
      : { icon: 'rotate-cw', name: `Restart ${short}`, url: `${acts}/restart` }),
  }
  return [
    { kind: 'environment', icon: 'boxes', name, detail: 'Environment', url: path },
    {
      ...{ kind: 'action', icon: 'rocket', name: `Deploy ${short}`, detail: environment.name },
      url: `/projects/${project.id}/deployments`,
      fields: { environment_id: environment.id },
    },
    ...(running.length > 0 ? [act] : []),
    setting('scroll-text', `Logs of ${short}`, `${path}/output`),
    setting('key-round', `Variables of ${short}`, `${acts}/variables`),
    setting('globe', `Domains of ${short}`, `${acts}/domains`),
  ]

  function setting(icon: IconName, name: string, url: string): Item {
    return { kind: 'setting', icon, name, detail: environment.name, url }
  }
}

function serviceItems(service: Own['services'][number]): Item[] {
  const { name, status } = service
  const url = servicePath(service)
  const isUp = status === 'running' || status === 'unhealthy'
  const isDown = status === 'stopped' || status === 'failed'
  const act: Item = {
    ...{ kind: 'action', detail: 'Service', url: `${url}/restart`, fields: {} },
    ...(isUp
      ? { icon: 'rotate-cw', name: `Restart ${name}` }
      : { icon: 'play', name: `Start ${name}` }),
  }
  return [
    { kind: 'service', icon: 'database', name, detail: 'Service', url },
    ...(isUp || isDown ? [act] : []),
    {
      ...{ kind: 'setting', icon: 'scroll-text', name: `Logs of ${name}` },
      ...{ detail: 'Service', url: `${url}/output` },
    },
  ]
}

/** In the order of their apps and services, whenever they were started. */
function containerItems({ projects, environments, services, containers }: Own): Item[] {
  const projectNames = new Map(projects.map(({ id, name }) => [id, name]))
  const places = new Map([
    ...environments.map(
      ({ id, name, projectId }) => [id, `${projectNames.get(projectId)} / ${name}`] as const,
    ),
    ...services.map(({ id, name }) => [id, name] as const),
  ])
  const ofWorkload = Map.groupBy(containers, ({ workloadId }) => workloadId)
  return [...places].flatMap(([id, detail]) =>
    (ofWorkload.get(id) ?? [])
      .toSorted((a, b) => byName(a.process, b.process) || a.slot - b.slot)
      .map(({ containerId, process }): Item => ({
        ...{ kind: 'container', icon: 'container', name: process, detail },
        url: containerPath({ id: containerId! }),
      })),
  )
}

const serverItem = ({ id, name, address }: Own['servers'][number]): Item => ({
  ...{ kind: 'server', icon: 'server', name, detail: `Server ${address}` },
  url: `/settings/servers/${id}`,
})

const maxResults = 20

/**
 * Finds items that contain all words, best first: a name that is the text, names that begin with a word, names in
 * which a word begins, names that contain it, then details. Without words all items match.
 */
export function findItems(items: Item[], text: string): Item[] {
  const whole = folded(text)
  const words = [...new Set(whole.split(/\s+/).filter(Boolean))].map(
    (word) => [word, wordStart(word)] as const,
  )
  return items
    .map((item) => ({ item, rank: rankOf(item, { whole, words }) }))
    .filter(({ rank }) => rank < Infinity)
    .toSorted((a, b) => a.rank - b.rank || kindOf(a.item) - kindOf(b.item))
    .slice(0, maxResults)
    .map(({ item }) => item)
}

const kindOf = ({ kind }: Item) => kinds.indexOf(kind)

const folded = (text: string) => text.normalize('NFKC').toLowerCase()

const wordStart = (word: string) => RegExp(`(?<![\\p{L}\\p{N}])${RegExp.escape(word)}`, 'u')

/** Lower is better. */
function rankOf(
  { name, detail }: Item,
  { whole, words }: { whole: string; words: (readonly [string, RegExp])[] },
) {
  const [inName, inDetail] = [folded(name), folded(detail)]
  if (inName === whole) return -1
  return words.reduce((rank, [word, start]) => {
    if (inName.startsWith(word)) return rank
    if (start.test(inName)) return rank + 1
    if (inName.includes(word)) return rank + 2
    return rank + (inDetail.includes(word) ? 3 : Infinity)
  }, 0)
}
