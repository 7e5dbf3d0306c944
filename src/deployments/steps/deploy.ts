import { namedUrl } from '../../addresses/urls.ts'
import type { Tx } from '../../db/index.ts'
import type { Image } from '../../docker/index.ts'
import { urlOf } from '../../environments/json.ts'
import { whyNotSpread } from '../../environments/processes.ts'
import { effectiveVariables } from '../../links/effective.ts'
import type { Effective } from '../../links/effective.ts'
import { Failure } from '../../platform/errors.ts'
import { withoutTrailing } from '../../platform/without-trailing.ts'
import { rollOut } from '../../runtime/roll-out.ts'
import type { RollOut } from '../../runtime/run.ts'
import { keepSettings } from '../../runtime/store.ts'
import { componentsOf, isBehindEdge, portOf } from '../components.ts'
import type { Run } from '../context.ts'
import { sealSettings } from '../settings.ts'
import { getJob } from '../store.ts'

export type Outcome = { url: string | null; downtimeMs: number | null }

type Hooks = Pick<RollOut['hooks'], 'undone'> & {
  commit: (tx: Tx, outcome: Outcome) => void
  committed: (outcome: Pick<Outcome, 'url'>) => void
}

/** A run with its image, and with all variables and links of its containers. */
export type ReadyRun = Run & {
  image: string
  port: number
  url: string | null
  /** The app's first domain. */
  domain: string | undefined
  /** The settings, encrypted. */
  settings: string
}

/** Resolves the settings of this deployment's containers. */
export async function resolve(run: Run, image: string): Promise<ReadyRun> {
  const { db, project, environment, deployment, edge, signal } = run
  await edge.ready({ signal })
  const unspread = whyNotSpread(environment, edge)
  if (unspread !== null) throw portShared(unspread)
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
  const found = await findImage(run, image)
  const port = portOf({ environment, variables }, found)
  for (const path of unkeptIn(found, environment))
    run.log(
      `The image declares a volume at ${path}. What the app writes there is lost with the next deployment, unless the environment has a volume for it, such as data:${path}.`,
    )
  const settings = sealSettings(run, effective)
  return { ...run, image, port, url, domain, variables, joins, settings }
}

/** Docker gives these an anonymous volume, and the next container another one, so their data isn't kept. */
const unkeptIn = ({ volumes = [] }: Pick<Image, 'volumes'>, environment: Run['environment']) =>
  volumes.filter(
    (path) => !environment.volumes.some((entry) => plain(entry).endsWith(`:${plain(path)}`)),
  )

const plain = (path: string) => withoutTrailing(path, '/')

export async function deploy(run: ReadyRun, { commit, committed, undone }: Hooks) {
  const { deployment, places, log, image, port, url, domain, settings, signal, shutdown } = run
  if (port > 0 && places.note) log(places.note)
  await rollOut(run, {
    workload: workloadOf(run),
    release: {
      id: deployment.id,
      components: componentsOf(run, { image, port, domain }),
      edge: port > 0 && isBehindEdge(run),
    },
    hooks: {
      log,
      commit(tx, { downtimeMs }) {
        keepSettings(tx, { id: deployment.id, settings })
        commit(tx, { url, downtimeMs })
      },
      committed: () => committed({ url }),
      undone,
    },
    signal,
    shutdown,
  })
}

export const workloadOf = ({ project, environment }: Pick<Run, 'project' | 'environment'>) =>
  ({
    id: environment.id,
    kind: 'app',
    ownerId: project.ownerId,
    projectId: project.id,
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

async function findImage({ docker, signal }: Run, image: string): Promise<Image> {
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

export const imageMissing = (message: string) =>
  new Failure('image_missing', message, 'Deploy the commit again, so that it is built again.')
