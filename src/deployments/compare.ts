import type { Db } from '../db/index.ts'
import type { Environment } from '../environments/store.ts'
import { variableChanges } from '../environments/variable-changes.tsx'
import type { LinkDeps } from '../links/effective.ts'
import type { Mask } from '../logs/mask.ts'
import type { Masks } from '../logs/masks.ts'
import { liveSettings, settingsOfRelease } from './settings.ts'
import type { Settings } from './settings.ts'
import { getBuiltBy, getCurrent, listBuiltBetween, pulledOf } from './store.ts'
import { uploadOf } from './upload-store.ts'
import type { Deployment } from './store.ts'

export type CompareDeps = Pick<LinkDeps, 'db' | 'secrets'> & { masks: Masks }

export type Comparison = Awaited<ReturnType<typeof compareWithLive>>

/** Compares a deployment with the live one. The result has no values that are or were secret. */
export async function compareWithLive(
  deps: CompareDeps,
  { environment, target }: { environment: Environment; target: Deployment },
) {
  const current = getCurrent(deps.db, environment.id)
  const live = liveSettings(deps, environment.id)
  const then = settingsOfRelease(deps, target.id)
  const { mask } = await deps.masks.of(environment.id)
  return {
    liveId: current?.id ?? null,
    ...versionsOf(deps.db, { current, target }),
    /** These and the settings are null if they were never stored, or are deleted. */
    variables: live && then && changedVariables(live, then, { mask, isPast: true }),
    settings: live && then && fieldChanges(live.fields, then.fields),
  }
}

export const versionsOf = (
  db: Db,
  { current, target }: { current: Deployment | null; target: Deployment },
) => ({
  deploymentId: target.id,
  /** Also true while the live version is stopped. */
  isLive: current?.id === target.id,
  commit: { from: current && commitOf(current), to: commitOf(target) },
  between: current ? commitsBetween(db, current, target) : noneBetween,
  image: { from: current?.image ?? null, to: target.image },
})

export const changedVariables = (
  live: Settings,
  next: Pick<Settings, 'variables' | 'secret'>,
  { mask, isPast }: { mask: Mask; isPast: boolean },
) =>
  variableChanges(variablesOf(live), variablesOf(next), {
    from: mask,
    to: isPast ? mask : (value) => value,
  })

const variablesOf = ({ variables, secret }: Pick<Settings, 'variables' | 'secret'>) =>
  new Map(
    Object.entries(variables).map(([key, value]) => [key, { value, secret: secret.includes(key) }]),
  )

/** Skips fields that an earlier version of Davit didn't store. */
export function fieldChanges(from: Fields, to: Fields) {
  const names = (Object.keys(from) as (keyof Fields)[]).filter((name) => name in to)
  return names
    .filter((name) => !Bun.deepEquals(from[name], to[name]))
    .sort()
    .map((name) => ({ name, from: from[name] ?? null, to: to[name] ?? null }))
}

type Fields = Settings['fields']

const commitOf = (deployment: Deployment) => ({
  hash: deployment.commitHash,
  message: deployment.commitMessage,
  author: deployment.commitAuthor,
  pulled: pulledOf(deployment),
  upload: uploadOf(deployment),
})

const noneBetween = { direction: 'same' as Direction, count: 0, items: [] as Between[] }

type Direction = 'back' | 'forward' | 'same'
type Between = { deploymentId: string; number: number } & ReturnType<typeof commitOf>

/** Maximum of deployments in the list; the rest is counted. */
const maxNamed = 20

/**
 * Lists the builds that went live between the two, newest first: those that the target lacks, or, if the
 * target is newer, that the live one lacks. Commits that weren't deployed are unknown, as mirrors have no
 * history.
 */
function commitsBetween(db: Db, current: Deployment, target: Deployment) {
  const [from, to] = [getBuiltBy(db, current), getBuiltBy(db, target)]
  if (from.id === to.id) return noneBetween
  const [older, newer] = from.id < to.id ? [from.id, to.id] : [to.id, from.id]
  const between = { environmentId: to.environmentId, older, newer, limit: maxNamed }
  const { count, rows } = listBuiltBetween(db, between)
  return {
    direction: (from.id < to.id ? 'forward' : 'back') as Direction,
    count,
    items: rows.map((row): Between => ({
      ...{ deploymentId: row.id, number: row.number },
      ...commitOf(row),
    })),
  }
}
