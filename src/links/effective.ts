import type { Config } from '../config.ts'
import type { Db } from '../db/index.ts'
import { getEnvironmentIn, listNamesBeside } from '../environments/store.ts'
import type { Environment } from '../environments/store.ts'
import { openVariables } from '../environments/variable-store.ts'
import type { OpenVariable } from '../environments/variable-store.ts'
import { Failure } from '../platform/errors.ts'
import type { Secrets } from '../platform/secrets.ts'
import type { Project } from '../projects/store.ts'
import { providesOf, reachOf } from '../services/provides.ts'
import type { Provides } from '../services/provides.ts'
import { definitionOf } from '../services/stored-definition.ts'
import { listLinks } from './store.ts'
import type { Linked } from './store.ts'

export type LinkDeps = { db: Db; secrets: Secrets; config: Config }

/** A variable of an app, with its source. Of several with the same key this is the one that applies. */
export type EffectiveVariable = OpenVariable & { from: 'davit' | 'link' | 'own' }

type EffectiveOptions = {
  project: Pick<Project, 'name'>
  environment: Pick<Environment, 'id' | 'name'>
  deployment: { commitHash: string | null; branch: string | null }
  url: string | null
  /** The variables set by hand, unless the current ones apply. */
  own?: OpenVariable[] | undefined
}

export type Effective = {
  variables: EffectiveVariable[]
  joins: string[]
  missing: { key: string; provides: string; service: string }[]
}

/**
 * Combines Davit's own variables, those of links, and those set by hand; later ones override earlier ones.
 * Secrets are in plain text: for containers, never for a response.
 */
export async function effectiveVariables(
  deps: LinkDeps,
  { own, ...of }: EffectiveOptions,
): Promise<Effective> {
  const { db, secrets } = deps
  const { environment } = of
  const found = new Map<string, EffectiveVariable>()
  const set = (variable: EffectiveVariable) => found.set(variable.key, variable)
  for (const [key, value] of Object.entries(builtIn(of)))
    set({ key, value: value ?? '', secret: false, buildTime: false, from: 'davit' })
  const missing: Effective['missing'] = []
  const linked = variablesOf(await openLinks(deps, environment.id))
  for (const { key, provides, service, provided } of linked)
    if (provided) set({ key, ...provided, buildTime: false, from: 'link' })
    else missing.push({ key, provides, service: service.name })
  for (const { key, value, secret, buildTime } of own ?? openVariables(db, secrets, environment.id))
    set({ key, value, secret, buildTime, from: 'own' })
  return {
    variables: [...found.values()],
    joins: listLinks(db, environment.id).map(({ service }) => service.id),
    missing: missing.filter(({ key }) => found.get(key)?.from !== 'own'),
  }
}

/** Davit's own variables by key; null while unknown. */
export const builtIn = ({ project, environment, deployment, url }: EffectiveOptions) => ({
  DAVIT_COMMIT: deployment.commitHash,
  DAVIT_BRANCH: deployment.branch,
  DAVIT_ENVIRONMENT: environment.name,
  DAVIT_PROJECT: project.name,
  DAVIT_APP_URL: url,
})

type OpenLink = Linked & { provides: Provides }

/** Oldest first. Throws a Failure when a service's definition can't be read. */
async function openLinks(deps: LinkDeps, environmentId: string): Promise<OpenLink[]> {
  const linked = await Promise.all(
    listLinks(deps.db, environmentId).map(async (of) => {
      const definition = await definitionOf(deps, of.service)
      return { ...of, definition, reach: reachOf(deps, definition) }
    }),
  )
  const hosts = linked.flatMap(({ reach }) => [...reach.hosts.values()])
  const own = listNamesBeside(deps.db, environmentId, hosts)
  // a name in a Compose file leads to its own service, and the next commit may have others
  const isStack = getEnvironmentIn(deps.db, environmentId)?.project.composeFile != null
  return linked.map(({ link, service, definition, reach }) => {
    const others = linked.flatMap((of) => (of.link === link ? [] : of.reach.names))
    const taken = new Set([...own, ...others])
    const isAmbiguous = isStack || reach.hosts.values().some((name) => taken.has(name))
    return { link, service, provides: providesOf(deps, definition, { isAmbiguous }) }
  })
}

/** For display: they have no values when a service's file or values can't be read. */
export const shownLinks = (deps: LinkDeps, environmentId: string): Promise<OpenLink[]> =>
  openLinks(deps, environmentId).catch((error) => {
    if (!(error instanceof Failure)) throw error
    const provides: Provides = { values: new Map(), proposes: new Map() }
    return listLinks(deps.db, environmentId).map((linked) => ({ ...linked, provides }))
  })

/** `provided` is undefined when the service no longer provides it. */
export const variablesOf = (links: OpenLink[]) =>
  links.flatMap(({ link, service, provides: { values } }) =>
    Object.entries(link.variables).map(([key, provides]) => ({
      ...{ key, provides, service },
      provided: values.get(provides),
    })),
  )
