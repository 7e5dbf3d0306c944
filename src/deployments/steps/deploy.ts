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

/** Rolls the image out as the release of this deployment. */
export async function deploy(
  run: Run,
  { image, commit, committed, undone }: Hooks & { image: string },
) {
  const { db, project, environment, deployment, places, log, signal, shutdown } = run
  const port = portOf(run, await findImage(run, image))
  const url = port > 0 ? urlOf(environment, places) : null
  if (port > 0 && places.note) log(places.note)
  const known = getJob(db, deployment.id)!.deployment // with the commit that was built
  const effective = await effectiveVariables(run, { project, environment, deployment: known, url })
  refuseMissing(effective)
  const { variables, joins } = effective
  const settings = sealSettings(run, effective, image)
  await rollOut(run, {
    workload: {
      id: environment.id,
      kind: 'app',
      ownerId: project.ownerId,
      projectId: project.id,
    },
    release: {
      id: deployment.id,
      components: componentsOf({ ...run, variables, joins }, { image, port }),
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

function refuseMissing({ missing: [first] }: Effective) {
  if (!first) return
  const { key, provides, service } = first
  throw new Failure(
    'link_broken',
    `Start failed: the service ${service} provides no ${provides} any more, which ${key} is linked to.`,
    'Change the link under Variables, or set the variable by hand, then deploy again.',
  )
}

async function findImage({ docker, signal }: Run, image: string): Promise<Image> {
  const found = await docker.inspectImage(image, { signal })
  if (found) return found
  throw imageMissing(`The image ${image} doesn’t exist any more.`)
}

export const imageMissing = (message: string) =>
  new Failure('image_missing', message, 'Deploy the commit again, so that it is built again.')
