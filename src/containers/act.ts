import type { Db } from '../db/index.ts'
import type { Docker } from '../docker/index.ts'
import { AppError } from '../platform/errors.ts'
import { restartContainer, stopContainer } from '../runtime/act.ts'
import { isRollingOut } from '../runtime/store.ts'
import { isUp } from '../runtime/workload.ts'
import { noContainer } from './find.ts'
import type { FoundContainer } from './find.ts'
import { isKept } from './row.ts'

type ActDeps = { db: Db; docker: Docker }

/** Uses the container's own stop timeout. */
export async function stop(deps: ActDeps, found: FoundContainer) {
  const { container } = found
  if (!isUp(container))
    throw new AppError('conflict', `${container.name} isn’t running: it is ${container.state}.`)
  refuseWhileSwitching(deps, found)
  refuseKept(found)
  if (!(await stopContainer(deps.docker, container))) throw noContainer()
}

export async function restart(deps: ActDeps, found: FoundContainer) {
  const { container } = found
  if (container.state === 'removing' || container.state === 'dead')
    throw new AppError('conflict', `${container.name} is being removed, so it can’t be started.`)
  refuseWhileSwitching(deps, found)
  refuseKept(found)
  if (!(await restartContainer(deps.docker, container))) throw noContainer()
}

function refuseKept({ place }: FoundContainer) {
  if (!isKept(place)) return
  throw new AppError(
    'conflict',
    'It belongs to the previous version, which is kept for a rollback. Roll back to that deployment to start it.',
  )
}

/** A deployment owns the containers it starts and stops; changing them meanwhile would conflict. */
function refuseWhileSwitching({ db }: ActDeps, { place }: FoundContainer) {
  if (place.kind !== 'own' || !place.environment || !isRollingOut(db, place.environment.id)) return
  throw new AppError(
    'conflict',
    `A deployment is switching the containers of ${place.environment.name}. Wait until it has ended, or cancel it.`,
  )
}
