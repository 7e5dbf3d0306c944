import { environmentForm } from '../environments/forms.ts'
import type { Environment } from '../environments/store.ts'
import { effectiveVariables } from '../links/effective.ts'
import type { Effective, LinkDeps } from '../links/effective.ts'
import { Failure } from '../platform/errors.ts'
import type { Project } from '../projects/store.ts'
import { looksOf } from '../web/schema-fields.tsx'
import type { OpenVariable } from '../environments/variable-store.ts'
import { getLiveRelease, getSettings } from '../runtime/store.ts'
import type { Run } from './context.ts'
import type { Deployment } from './store.ts'

type Field = keyof typeof environmentForm.shape & keyof Environment

/** The fields of an environment that the next deployment applies, with their names on pages. */
export const fieldLabels = Object.fromEntries(
  looksOf(environmentForm).flatMap(([name, { label, applies }]) =>
    applies ? [[name, label.toLowerCase()]] : [],
  ),
) as Partial<Record<Field, string>>

const fields = Object.keys(fieldLabels) as Field[]

type Variables = Record<string, string>

/** Stored encrypted with the release, and deleted with its image. */
export type Settings = {
  fields: Partial<Pick<Environment, Field>>
  /** As set in its containers, without Davit's own. */
  variables: Variables
  /** The keys of secret variables. */
  secret: string[]
  /** The flags of those set by hand. */
  own: Record<string, Pick<OpenVariable, 'secret' | 'buildTime'>>
  /** The variables that its image was built with; null when unknown. */
  build: Variables | null
  joins: string[]
}

type GivenSettings = Pick<Effective, 'variables' | 'joins'>

/** Encrypts the settings of a deployment that is about to go live. */
export function sealSettings(run: Run, given: GivenSettings) {
  const { secrets, environment, deployment } = run
  const build = deployment.imageOf
    ? (settingsOfRelease(run, deployment.imageOf)?.build ?? null)
    : buildVariables(run.variables)
  const settings: Settings = { ...settingsOf(environment, given), build }
  return secrets.seal(JSON.stringify(settings), sealedAs(deployment.id))
}

/** Includes secrets in plain text; null once they are deleted. */
export function settingsOfRelease(
  { db, secrets }: Pick<LinkDeps, 'db' | 'secrets'>,
  id: string,
): Settings | null {
  const sealed = getSettings(db, id)
  return sealed === null ? null : JSON.parse(secrets.open(sealed, sealedAs(id)))
}

export function liveSettings(deps: Pick<LinkDeps, 'db' | 'secrets'>, environmentId: string) {
  const live = getLiveRelease(deps.db, environmentId)
  return live ? settingsOfRelease(deps, live.id) : null
}

/** The variables that were set by hand when the release was created. */
export const ownVariables = ({ variables, own }: Settings): OpenVariable[] =>
  Object.entries(own).map(([key, marks]) => ({ key, value: variables[key]!, ...marks }))

/**
 * The changes since the live release was created. Has only keys of variables, and names of fields as in JSON, so
 * no secrets. Those in `needBuild` also affect the image.
 */
export async function pendingChanges(
  deps: LinkDeps,
  { project, environment }: { project: Project; environment: Environment },
) {
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

export function settingsOf(
  environment: Environment,
  given: GivenSettings,
): Omit<Settings, 'build'> {
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

/** Keys of build-time variables that differ from those of another deployment's build; null when unknown. */
export function buildDifferences(
  deps: Pick<LinkDeps, 'db' | 'secrets'>,
  { id }: Pick<Deployment, 'id'>,
  { variables, own }: Pick<Settings, 'variables' | 'own'>,
) {
  const then = settingsOfRelease(deps, id)?.build
  if (!then) return null
  const keys = Object.keys(own).filter((key) => own[key]!.buildTime)
  return differing(then, Object.fromEntries(keys.map((key) => [key, variables[key]!])))
}

const buildVariables = (
  variables: Pick<Run['variables'][number], 'key' | 'value' | 'buildTime'>[],
) =>
  Object.fromEntries(
    variables.flatMap(({ key, value, buildTime }) => (buildTime ? [[key, value]] : [])),
  ) as Variables

const differing = (then: Record<string, unknown>, now: Record<string, unknown>) =>
  [...new Set([...Object.keys(then), ...Object.keys(now)])]
    .filter((name) => !Bun.deepEquals(then[name] ?? null, now[name] ?? null)) // earlier versions stored fewer
    .sort()

const sealedAs = (releaseId: string) => `settings of ${releaseId}`
