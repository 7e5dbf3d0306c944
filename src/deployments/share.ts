import type { Db } from '../db/index.ts'
import { refuseShared, whyNoShare } from '../environments/share.ts'
import { AppError, invalidField } from '../platform/errors.ts'
import type { Project } from '../projects/store.ts'
import type { ShareRequest } from './share-fields.ts'
import { getStatus } from './store.ts'
import type { Deployment } from './store.ts'
import { chooseEnvironment } from './trigger.ts'
import type { Watches } from './watch/watches.ts'
import { getUnendedShare } from './waiting-store.ts'
import { listFreeSlots, sharesFull } from './watch/store.ts'

/** Takes a share back. Throws when that isn't possible any more. */
export async function takeBack(
  { db, watches }: { db: Db; watches: Pick<Watches, 'end'> },
  { id, environmentId }: Deployment,
  by: string,
) {
  await watches.end({ id, environmentId }, 'cancelled', by)
  if (getStatus(db, id) === 'running')
    throw new AppError('conflict', 'The version before isn’t there any more, so this one stays.')
}

/** Throws when a new version of the environment can't get a share of the requests. */
export function refuseShare(
  deps: Parameters<typeof whyNoShare>[0],
  {
    project,
    environmentId,
    strategy,
  }: ShareRequest & { project: Project; environmentId?: string | null | undefined },
) {
  if (strategy !== 'share') return
  const { db } = deps
  const environment = chooseEnvironment(db, project, environmentId)
  const refused = whyNoShare(deps, { project, environment })
  if (refused?.isState) throw new AppError('conflict', `A share of the requests ${refused.reason}`)
  if (refused) throw invalidField('strategy', refused.reason)
  refuseShared(db, environment)
  const begun = getUnendedShare(db, environment.id)
  if (begun)
    throw new AppError(
      'conflict',
      `#${begun.number} of ${environment.name} is about to get a share of the requests. Cancel it, or wait until it has one and decide about that.`,
    )
  if (listFreeSlots(db).length === 0) throw new AppError('conflict', sharesFull)
}
