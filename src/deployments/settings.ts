import type { Environment } from '../environments/store.ts'
import { effectiveVariables } from '../links/effective.ts'
import type { Effective, LinkDeps } from '../links/effective.ts'
import { Failure } from '../platform/errors.ts'
import type { Project } from '../projects/store.ts'
import type { OpenVariable } from '../environments/variable-store.ts'
import { getLiveRelease, getSettings } from '../runtime/store.ts'
import type { Run } from './run.ts'

/** Fields of an environment that take effect with its next deployment, with their names on pages. */
export const fieldLabels = {
  name: 'name',
  port: 'app port',
  hostPort: 'host port',
  healthPath: 'health path',
  healthHost: 'health host',
  healthTimeout: 'health timeout',
  memoryMb: 'memory',
  cpus: 'processors',
  volumes: 'volumes',
  processes: 'processes',
  releaseCommand: 'release command',
  releaseTimeout: 'release timeout',
} as const satisfies Partial<Record<keyof Environment, string>>

type Field = keyof typeof fieldLabels

const fields = Object.keys(fieldLabels) as Field[]

type Variables = Record<string, string>

/** The settings of a release; stored sealed with it, and deleted with its image. */
export type Settings = {
  fields: Pick<Environment, Field>
  /** As its containers have them, without Davit's own. */
  variables: Variables
  /** Which of them are secret, and the flags of those set by hand; an earlier version stored neither. */
  secret?: string[]
  own?: Record<string, Pick<OpenVariable, 'secret' | 'buildTime'>>
  /** Those that its image was built with; null when unknown. */
  build: Variables | null
  joins: string[]
}

type Given = Pick<Effective, 'variables' | 'joins'>

/** The settings of a deployment that is about to be live, sealed. */
export function sealSettings(run: Run, given: Given) {
  const { secrets, environment, deployment } = run
  const build = deployment.imageOf
    ? (settingsOfRelease(run, deployment.imageOf)?.build ?? null)
    : buildVariables(run.variables)
  const settings: Settings = { ...settingsOf(environment, given), build }
  return secrets.seal(JSON.stringify(settings), sealedAs(deployment.id))
}

/** The settings of a release, with secrets in plain text; null once deleted. */
export function settingsOfRelease(
  { db, secrets }: Pick<LinkDeps, 'db' | 'secrets'>,
  id: string,
): Settings | null {
  const sealed = getSettings(db, id)
  return sealed === null ? null : JSON.parse(secrets.open(sealed, sealedAs(id)))
}

/** The settings of the live release of an environment. */
export function liveSettings(deps: Pick<LinkDeps, 'db' | 'secrets'>, environmentId: string) {
  const live = getLiveRelease(deps.db, environmentId)
  return live ? settingsOfRelease(deps, live.id) : null
}

/** The variables that were set by hand when a release was created; null when unknown. */
export const ownVariables = ({ variables, own }: Settings): OpenVariable[] | null =>
  own
    ? Object.entries(own).map(([key, marks]) => ({ key, value: variables[key]!, ...marks }))
    : null

export type PendingChanges = {
  /** Keys of variables, and names of fields as JSON has them. */
  names: string[]
  /** Those that also affect the image. */
  needBuild: string[]
}

/**
 * The changes since the live release was created; empty if an earlier version
 * created it. Names only, so no secrets.
 */
export async function pendingChanges(
  deps: LinkDeps,
  { project, environment }: { project: Project; environment: Environment },
): Promise<PendingChanges> {
  const then = liveSettings(deps, environment.id)
  if (!then) return { names: [], needBuild: [] }
  const unknown = { commitHash: null, branch: null }
  const given = await effectiveVariables(deps, {
    ...{ project, environment, deployment: unknown, url: null },
  }).catch((error) => {
    if (error instanceof Failure) return null // the service's own page shows the problem
    throw error
  })
  const now = settingsOf(environment, given ?? { variables: [], joins: then.joins })
  const needBuild =
    given && then.build ? differing(then.build, buildVariables(given.variables)) : []
  const names = new Set([
    ...(given ? differing(then.variables, now.variables) : []),
    ...needBuild,
    ...differing(then.fields, now.fields),
    ...(Bun.deepEquals(then.joins.toSorted(), now.joins.toSorted()) ? [] : ['links']),
  ])
  return { names: [...names], needBuild }
}

export function settingsOf(environment: Environment, given: Given): Omit<Settings, 'build'> {
  const variables = given.variables.filter(({ from }) => from !== 'davit')
  const own = variables.filter(({ from }) => from === 'own')
  return {
    fields: Object.fromEntries(
      fields.map((name) => [name, environment[name]]),
    ) as Settings['fields'],
    variables: Object.fromEntries(variables.map(({ key, value }) => [key, value])),
    secret: variables.flatMap(({ key, secret }) => (secret ? [key] : [])),
    own: Object.fromEntries(own.map(({ key, secret, buildTime }) => [key, { secret, buildTime }])),
    joins: given.joins,
  }
}

const buildVariables = (
  variables: Pick<Run['variables'][number], 'key' | 'value' | 'buildTime'>[],
) =>
  Object.fromEntries(
    variables.flatMap(({ key, value, buildTime }) => (buildTime ? [[key, value]] : [])),
  ) as Variables

export const differing = (then: Record<string, unknown>, now: Record<string, unknown>) =>
  [...new Set([...Object.keys(then), ...Object.keys(now)])]
    .filter((name) => !Bun.deepEquals(then[name] ?? null, now[name] ?? null)) // an earlier version stored fewer
    .sort()

const sealedAs = (releaseId: string) => `settings of ${releaseId}`
