import type { Docker } from '../docker/index.ts'
import { hasPort } from '../environments/processes.ts'
import type { Environment } from '../environments/store.ts'
import type { OpenVariable } from '../environments/variable-store.ts'
import { effectiveVariables } from '../links/effective.ts'
import type { LinkDeps } from '../links/effective.ts'
import { Failure } from '../platform/errors.ts'
import { neverAborted } from '../platform/pause.ts'
import { joinWords, wordsOf } from '../platform/shell-words.ts'
import type { Project } from '../projects/store.ts'
import { changedVariables, fieldChanges, versionsOf } from './compare.ts'
import type { CompareDeps } from './compare.ts'
import { isBehindEdge } from './components.ts'
import { openStack } from './stack/open.ts'
import type { OpenStack } from './stack/open.ts'
import { variablesNotKept, variablesOfThen, whyNoRollback } from './rollback.ts'
import { liveSettings, settingsOf } from './settings.ts'
import { getDeployment } from '../environments/store.ts'
import { listStandby } from '../runtime/store.ts'
import { getCurrent } from './store.ts'
import type { Deployment } from './store.ts'

export type PreviewDeps = LinkDeps & CompareDeps & { docker: Docker; edge: { isOn: boolean } }

type PreviewOptions = { project: Project; environment: Environment; target: Deployment }

export type RollbackPreview = Awaited<ReturnType<typeof previewRollback>>

/** Lists the changes that a rollback would make. The result has no values that are or were secret. */
export async function previewRollback(
  deps: PreviewDeps,
  { project, environment, target }: PreviewOptions,
) {
  const { db } = deps
  const current = getCurrent(db, environment.id)
  const live = liveSettings(deps, environment.id)
  const then = variablesOfThen(deps, target)
  const { mask } = await deps.masks.of(environment.id)
  const today = await settingsWith(deps, { project, environment, target, own: undefined })
  const release = then && (await settingsWith(deps, { project, environment, target, own: then }))
  const compare = (next: typeof today, isPast: boolean) =>
    live && next && changedVariables(live, next, { mask, isPast })
  return {
    ...versionsOf(db, { current, target }),
    /** True when containers of it are kept, which start again if nothing else changes. */
    kept: listStandby(db, environment.id).some(
      ({ releaseId }) => getDeployment(db, releaseId)?.image === target.image,
    ),
    /** The reason why a rollback is impossible; null when it is possible. */
    refused: whyNoRollback(target) ?? (await whyNoImage(deps, target)),
    /** Null when the variables of the live deployment or of a linked service are unknown. */
    variables: {
      today: { refused: null, changes: compare(today, false) },
      release: {
        refused: then ? null : variablesNotKept,
        changes: compare(release, true),
      },
    },
    /** Processes, limits and so on always have their current values. */
    settings: live && fieldChanges(live.fields, environment),
    releaseCommand: releaseCommandOf(environment),
    /** What the two versions can't use at once, so that the live one stops first; null without downtime. */
    interruption: await interruptionOf(deps, { project, environment, target, settings: today }),
  }
}

export const releaseCommandOf = ({ releaseCommand }: Environment) =>
  releaseCommand === null ? null : joinWords(wordsOf(releaseCommand))

type Interrupted = PreviewOptions & { settings: Awaited<ReturnType<typeof settingsWith>> }

export async function interruptionOf(deps: PreviewDeps, of: Interrupted) {
  const { environment } = of
  if (environment.volumes.length > 0 || (await changesMounted(deps, of))) return 'volume'
  const isFree = isBehindEdge({ environment, edge: deps.edge })
  return hasPort(environment) && !isFree ? 'port' : null
}

/** True when a service of a Compose file that has a volume would be another one. */
async function changesMounted(
  deps: PreviewDeps,
  { project, environment, target, settings }: Interrupted,
) {
  const variables = Object.entries(settings?.variables ?? {}).map(([key, value]) => ({
    key,
    value,
  }))
  const read = async (image: string | null | undefined) =>
    image
      ? openStack(deps, { project, environment, image, variables, signal: neverAborted() })
      : null
  try {
    const next = await read(target.image)
    const live = next && (await read(getCurrent(deps.db, environment.id)?.image))
    const serviceIn = (stack: OpenStack | null, name: string) => [
      stack?.plan.services.get(name),
      stack?.services[name]?.key,
    ]
    return [...(next?.plan.services.values() ?? [])].some(
      ({ name, volumes }) =>
        volumes.length > 0 && !Bun.deepEquals(serviceIn(next, name), serviceIn(live, name)),
    )
  } catch (error) {
    if (error instanceof Failure) return false // the deployment will report it
    throw error
  }
}

export async function whyNoImage({ docker }: Pick<PreviewDeps, 'docker'>, { image }: Deployment) {
  const isGone = await docker.inspectImage(image!).then(
    (found) => found === null,
    () => false, // Docker doesn't respond: the deployment will report it
  )
  return isGone
    ? 'The image of this deployment doesn’t exist anymore. Deploy its commit again.'
    : null
}

/** Null when a linked service's variables can't be read. */
export async function settingsWith(
  deps: LinkDeps,
  { project, environment, target, own }: PreviewOptions & { own: OpenVariable[] | undefined },
) {
  try {
    const of = { project, environment, deployment: target, url: null, own }
    return settingsOf(environment, await effectiveVariables(deps, of))
  } catch (error) {
    if (error instanceof Failure) return null
    throw error
  }
}
