import type { Environment } from '../environments/store.ts'
import { effectiveVariables } from '../links/effective.ts'
import type { Effective, LinkDeps } from '../links/effective.ts'
import { Failure } from '../platform/errors.ts'
import type { Secrets } from '../platform/secrets.ts'
import type { Project } from '../projects/store.ts'
import { getLiveRelease } from '../runtime/store.ts'
import type { Run } from './run.ts'
import { getCurrent } from './store.ts'

/** Fields of an environment that take effect with its next deployment. */
export const fields = [
  'name',
  'port',
  'hostPort',
  'healthPath',
  'healthTimeout',
  'memoryMb',
  'cpus',
  'volumes',
  'processes',
  'releaseCommand',
  'releaseTimeout',
] as const satisfies (keyof Environment)[]

type Variables = Record<string, string>

/** What a release was made from; kept sealed with it. */
type Settings = {
  fields: Pick<Environment, (typeof fields)[number]>
  /** As its containers have them, without Davit's own. */
  variables: Variables
  /** Those that its image was built with; null where that isn't known. */
  build: Variables | null
  joins: string[]
}

type Given = Pick<Effective, 'variables' | 'joins'>

/** The settings of a deployment that is about to be live, sealed. */
export function sealSettings(run: Run, given: Given, image: string) {
  const { db, secrets, environment, deployment } = run
  const live = getCurrent(db, environment.id)
  const built =
    live?.image === image ? openSettings(secrets, getLiveRelease(db, environment.id)) : null
  const build = deployment.imageOf ? (built?.build ?? null) : buildVariables(run.variables)
  const settings: Settings = { ...settingsOf(environment, given), build }
  return secrets.seal(JSON.stringify(settings), sealedAs(deployment.id))
}

export type PendingChanges = {
  /** Keys of variables, and names of fields as JSON has them. */
  names: string[]
  /** Those of them that are a matter of the image, too. */
  needBuild: string[]
}

/**
 * What was changed since the live release was made; nothing where an earlier version made it. Names
 * only: of values that are secret none is told.
 */
export async function pendingChanges(
  deps: LinkDeps,
  { project, environment }: { project: Project; environment: Environment },
): Promise<PendingChanges> {
  const then = openSettings(deps.secrets, getLiveRelease(deps.db, environment.id))
  if (!then) return { names: [], needBuild: [] }
  const unknown = { commitHash: null, branch: null }
  const given = await effectiveVariables(deps, {
    ...{ project, environment, deployment: unknown, url: null },
  }).catch((error) => {
    if (error instanceof Failure) return null // a service's own page says what is wrong with it
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

const settingsOf = (environment: Environment, { variables, joins }: Given) => ({
  fields: Object.fromEntries(fields.map((name) => [name, environment[name]])) as Settings['fields'],
  variables: Object.fromEntries(
    variables.flatMap(({ key, value, from }) => (from === 'davit' ? [] : [[key, value]])),
  ),
  joins,
})

const buildVariables = (
  variables: Pick<Run['variables'][number], 'key' | 'value' | 'buildTime'>[],
) =>
  Object.fromEntries(
    variables.flatMap(({ key, value, buildTime }) => (buildTime ? [[key, value]] : [])),
  ) as Variables

const differing = (then: Record<string, unknown>, now: Record<string, unknown>) =>
  [...new Set([...Object.keys(then), ...Object.keys(now)])]
    .filter((name) => !Bun.deepEquals(then[name], now[name]))
    .sort()

const sealedAs = (releaseId: string) => `settings of ${releaseId}`

const openSettings = (
  secrets: Secrets,
  release: ReturnType<typeof getLiveRelease>,
): Settings | null =>
  release?.settings ? JSON.parse(secrets.open(release.settings, sealedAs(release.id))) : null
