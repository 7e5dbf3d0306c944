import type { Image } from '../../docker/index.ts'
import { urlOf } from '../../environments/json.ts'
import { effectiveVariables } from '../../links/effective.ts'
import type { Effective } from '../../links/effective.ts'
import { Failure } from '../../platform/errors.ts'
import { rollOut } from '../../runtime/roll-out.ts'
import type { RollOut } from '../../runtime/run.ts'
import { keepSettings } from '../../runtime/store.ts'
import type { Tx } from '../../runtime/store.ts'
import { componentsOf, portOf } from '../components.ts'
import type { Run } from '../run.ts'
import { sealSettings } from '../settings.ts'
import { getJob } from '../store.ts'

export type Outcome = { url: string | null; downtimeMs: number | null }

type Hooks = Pick<RollOut['hooks'], 'undone'> & {
  commit: (tx: Tx, outcome: Outcome) => void
  committed: (outcome: Pick<Outcome, 'url'>) => void
}

/** A run whose image is there, with all variables and links that its containers get. */
export type ReadyRun = Run & {
  image: string
  port: number
  url: string | null
  /** What it is made from, sealed. */
  settings: string
}

/** Resolves what the containers of this deployment are made with. */
export async function resolve(run: Run, image: string): Promise<ReadyRun> {
  const { db, project, environment, deployment, places } = run
  const port = portOf(run, await findImage(run, image))
  const url = port > 0 ? urlOf(environment, places) : null
  const known = getJob(db, deployment.id)!.deployment // with the commit that was built
  const effective = await effectiveVariables(run, { project, environment, deployment: known, url })
  refuseMissing(effective)
  const { variables, joins } = effective
  const settings = sealSettings(run, effective, image)
  return { ...run, image, port, url, variables, joins, settings }
}

/** Rolls the image out as the release of this deployment. */
export async function deploy(run: ReadyRun, { commit, committed, undone }: Hooks) {
  const { deployment, places, log, image, port, url, settings, signal, shutdown } = run
  if (port > 0 && places.note) log(places.note)
  await rollOut(run, {
    workload: workloadOf(run),
    release: { id: deployment.id, components: componentsOf(run, { image, port }) },
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

/** Throws where a link's service provides a variable no longer that the app is to get. */
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
  throw imageMissing(`The image ${image} doesn’t exist any more.`)
}

export const imageMissing = (message: string) =>
  new Failure('image_missing', message, 'Deploy the commit again, so that it is built again.')
