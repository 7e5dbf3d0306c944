import { branchOf } from './push.ts'
import { canReplay } from './replay.ts'
import type { Delivery } from './store.ts'

/** A delivery as programs see it. */
export const deliveryJson = (delivery: Delivery) => ({
  id: delivery.id,
  provider: delivery.provider,
  deliveryId: delivery.deliveryId,
  event: delivery.event,
  ref: delivery.ref,
  branch: delivery.ref && branchOf({ ref: delivery.ref }),
  commit: { hash: delivery.commitHash, message: delivery.commitMessage },
  signatureOk: delivery.signatureOk,
  decision: delivery.decision,
  reason: delivery.reason,
  deploymentIds: delivery.deploymentIds,
  canReplay: canReplay(delivery),
  createdAt: delivery.createdAt,
})
