import { placementOn } from '../../runtime/move-store.ts'
import { namedUrl } from '../../addresses/urls.ts'
import type { Tx } from '../../db/index.ts'
import type { UnwatchedReason } from '../../db/schema.ts'
import type { Image } from '../../docker/index.ts'
import { urlOf } from '../../environments/json.ts'
import { whyUnplaceable } from '../../environments/placement.ts'
import { whyNotSpread } from '../../environments/processes.ts'
import { getShared, whyAlone, whyNoShare } from '../../environments/share.ts'
import { updateEnvironment } from '../../environments/store.ts'
import { effectiveVariables } from '../../links/effective.ts'
import type { Effective } from '../../links/effective.ts'
import { Failure } from '../../platform/errors.ts'
import { withoutTrailing } from '../../platform/without-trailing.ts'
import { onEngines } from '../../runtime/on-engine.ts'
import { shareImpossible } from '../../runtime/routing.ts'
import { moving } from '../../runtime/moves.ts'
import { rollOut } from '../../runtime/roll-out.ts'
import type { RollOut } from '../../runtime/run.ts'
import { openComponents } from '../../runtime/component.ts'
import type { Component } from '../../runtime/component.ts'
import { getLiveRelease, keepSettings } from '../../runtime/store.ts'
import { isBehindEdge, portOf } from '../components.ts'
import type { Run } from '../context.ts'
import { sealSettings } from '../settings.ts'
import { appComponents, openStack, variablesIn } from '../stack/open.ts'
import type { OpenStack } from '../stack/open.ts'
import { getJob } from '../store.ts'
import { watchSecondsOf } from '../watch/store.ts'

export type Outcome = {
  url: string | null
  downtimeMs: number | null
  /** Null when it is watched. */
  unwatched: UnwatchedReason | null
}

type Hooks = Pick<RollOut['hooks'], 'undone'> & {
  commit: (tx: Tx, outcome: Outcome) => void
  committed: (outcome: Pick<Outcome, 'url'>) => void
}

/** A run with its image, and with all variables and links of its containers. */
export type ReadyRun = Awaited<ReturnType<typeof resolve>>

/** Resolves the settings of this deployment's containers, and encrypts them. */
export async function resolve(run: Run, image: string) {
  const { db, project, environment, deployment, edge, signal } = run
  await edge.ready({ signal })
  const unspread = whyNotSpread(environment, edge)
  if (unspread !== null) throw portShared(unspread)
  const unplaced = whyUnplaceable({ edge }, { environment })
  if (unplaced !== null) throw unplaceable(unplaced)
  const app = { environment, ownerId: project.ownerId }
  const url = urlOf(run, app)
  const { id, label } = environment
  const named = namedUrl(run, { holder: { environmentId: id }, label, isIntended: true })
  const domain = named === null ? undefined : new URL(named).hostname
  const ownUrl = urlOf(run, { ...app, isIntended: true })
  const known = getJob(db, deployment.id)!.deployment // now has the commit that was built
  const { own } = run
  const of = { project, environment, deployment: known, url: ownUrl, own }
  const effective = await effectiveVariables(run, of)
  refuseMissing(effective)
  const { variables, joins } = effective
  const asked = onEngines(run.engines.around(rememberingImages), run.serverList)
  const { docker } = asked
  const found = await findImage({ docker, signal }, image)
  const stack = await openStack(run, { project, environment, image, variables, signal })
  const port = portOf({ environment, variables: [...variables, ...variablesIn(stack)] }, found)
  for (const note of stack
    ? await unkeptInStack({ docker, signal }, stack)
    : unkeptIn(found, environment))
    run.log(note)
  const settings = sealSettings(run, effective)
  return { ...run, ...asked, image, port, url, domain, variables, joins, settings, stack }
}

type ImageDeps = Pick<Run, 'docker' | 'signal'>

/** Asks once for each image: while one is deployed, its name keeps its meaning. */
function rememberingImages(docker: Run['docker']): Run['docker'] {
  const known = new Map<string, Promise<Image | null>>()
  return {
    ...docker,
    inspectImage(name, options) {
      const asked = known.get(name) ?? docker.inspectImage(name, options)
      known.set(name, asked)
      const forget = () => known.delete(name)
      asked.then((found) => found ?? forget(), forget) // one that isn’t there may be pulled
      return asked
    },
  }
}

/** Docker gives these an anonymous volume, and the next container another one, so their data isn't kept. */
const unkeptIn = ({ volumes = [] }: Pick<Image, 'volumes'>, environment: Run['environment']) =>
  volumes
    .filter(
      (path) => !environment.volumes.some((entry) => plain(entry).endsWith(`:${plain(path)}`)),
    )
    .map(
      (path) =>
        `The image declares a volume at ${path}. What the app writes there is lost with the next deployment, unless the environment has a volume for it, such as data:${path}.`,
    )

async function unkeptInStack(run: ImageDeps, { plan, services }: OpenStack) {
  const notes: string[] = []
  for (const { name, volumes: mounted } of plan.services.values()) {
    const { volumes = [] } = await findImage(run, services[name]!.image)
    for (const path of volumes)
      if (!mounted.some((one) => plain(one.path) === plain(path)))
        notes.push(
          `The image of ${name} declares a volume at ${path}. What it writes there is lost when it is recreated, unless the Compose file has a volume for it, such as ${name}-data:${path}.`,
        )
  }
  return notes
}

const plain = (path: string) => withoutTrailing(path, '/')

export async function deploy(run: ReadyRun, { commit, committed, undone }: Hooks) {
  const { deployment, places, log, image, port, url, domain, settings, signal, shutdown } = run
  if (port > 0 && places.note) log(places.note)
  const components = appComponents(run, { image, port, domain, stack: run.stack })
  if (run.stack) logRemoved(run, components)
  const watch = { environmentId: run.environment.id, what: 'Start failed', signal }
  const shared = deployment.share && getShared(run.db, run.environment)
  if (shared) throw shareImpossible(`#${shared.number} has a share of the requests.`)
  await run.watches.endFor(watch, 'replaced')
  const { project, environment, config } = run
  // its settings may have changed since it was asked for, also by its commit
  const refused = deployment.share && whyNoShare(run, { project, environment })
  if (refused) throw shareImpossible(`A share of the requests ${refused.reason}`)
  const { move } = run
  // a move that went back by itself would still count as one
  const isOff = !deployment.share && (move !== null || watchSecondsOf(environment, config) === 0)
  const unwatched = isOff ? 'off' : whyAlone(run, { project, environment })
  if (unwatched === null) await run.watches.prepare()
  const workload = workloadOf(run)
  const moves = move && (await moving(run, { move, workload, components, log, signal }))
  const carries = moves?.strategy !== undefined
  await rollOut(run, {
    workload: moves?.workload ?? workload,
    ...(carries && { strategy: moves.strategy }),
    release: {
      id: deployment.id,
      components,
      edge: port > 0 && isBehindEdge(run),
      keepsUnchanged: run.stack !== null,
      // else nothing is to go back to, or its volumes are elsewhere
      keepsPrevious: run.project.keepImages > 1 && !carries,
      startsKept: deployment.trigger === 'rollback',
    },
    watch:
      deployment.share || unwatched === null
        ? {
            isRequired: deployment.share !== null,
            undoesCrashes: environment.rollbackOn.includes('crash'),
          }
        : null,
    hooks: {
      ...moves?.hooks,
      log,
      commit(tx, { downtimeMs, isWatched }) {
        moves?.commit(tx, { downtimeMs })
        if (move) updateEnvironment(run.db, environment.id, { placement: placementOn(move.to) })
        keepSettings(tx, { id: deployment.id, settings })
        commit(tx, { url, downtimeMs, unwatched: unwatched ?? (isWatched ? null : 'stop-first') })
      },
      committed: () => committed({ url }),
      undone,
    },
    signal,
    shutdown,
  })
}

/** Says what a commit removes: containers, but not their volumes. */
function logRemoved({ db, secrets, environment, log }: ReadyRun, components: Component[]) {
  const live = openComponents(secrets, getLiveRelease(db, environment.id)) ?? []
  for (const { name, options } of live) {
    if (components.some((component) => component.name === name)) continue
    const volumes = (options.volumes ?? []).map((volume) => volume.name)
    const kept = volumes.length > 0 ? ` Its volumes are kept: ${volumes.join(', ')}.` : ''
    log(`${name} is no longer in the Compose file, so its container is removed.${kept}`)
  }
}

export const workloadOf = ({ project, environment }: Pick<Run, 'project' | 'environment'>) =>
  ({
    id: environment.id,
    kind: 'app',
    ownerId: project.ownerId,
    projectId: project.id,
    placement: environment.placement,
    isWhole: project.composeFile !== null,
  }) as const

/** Throws when a linked service no longer provides a variable that the app needs. */
export function refuseMissing(
  { missing: [first] }: Effective,
  { what, again }: { what: string; again: string } = {
    what: 'Start failed',
    again: 'deploy again',
  },
) {
  if (!first) return
  const { key, provides, service } = first
  throw new Failure(
    'link_broken',
    `${what}: the service ${service} no longer provides ${provides}, which ${key} is linked to.`,
    `Change the link under Variables, or set the variable by hand, then ${again}.`,
  )
}

async function findImage({ docker, signal }: ImageDeps, image: string): Promise<Image> {
  const found = await docker.inspectImage(image, { signal })
  if (found) return found
  throw imageMissing(`The image ${image} doesn’t exist anymore.`)
}

/** For an app whose replicas were set while the edge was active, which it isn't any more. */
const portShared = (why: string) =>
  new Failure(
    'port_shared',
    'Start failed: one port can’t be shared by several containers.',
    `Processes ${why}`,
  )

/** For one whose other settings, or the edge, were changed since it was placed. */
const unplaceable = ({ field, reason }: { field: string; reason: string }) =>
  new Failure(
    'no_server',
    `Start failed: its placement on other servers isn’t possible now: ${field} ${reason}`,
    'Change that setting or the placement, then deploy again.',
  )

export const imageMissing = (message: string) =>
  new Failure('image_missing', message, 'Deploy the commit again, so that it is built again.')
