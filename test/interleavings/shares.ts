import { actions } from './actions.ts'
import type { Action } from './actions.ts'
import { withApp } from './beginnings.ts'
import type { Order } from './order.ts'
import type { Random } from './random.ts'

/** Those of which a new version can get a share of the requests. */
export const withShares = withApp.filter(({ settings }) => Object.keys(settings).length === 0)

type Row = { id: string; project_id: string }

const shared = 'SELECT id, project_id FROM deployments WHERE watch_until IS NOT NULL ORDER BY id'

const onShare = (name: string, verb: 'promote' | 'cancel'): Action => ({
  name,
  weight: 0,
  async run(order, chance) {
    const rows = order.installation.rows<Row>(shared)
    if (rows.length === 0) return
    const { id, project_id } = chance.pick(rows)
    await order.request('POST', `/projects/${project_id}/deployments/${id}/${verb}`)
  },
})

const share: Action = {
  name: 'deploy to a share of the requests',
  weight: 0,
  async run(order, chance) {
    const rows = order.installation.rows<Row>('SELECT id, project_id FROM environments ORDER BY id')
    if (rows.length === 0) return
    const { id, project_id } = chance.pick(rows)
    const body = { environmentId: id, strategy: 'share', percent: 10 }
    await order.request('POST', `/projects/${project_id}/deployments`, body)
  },
}

/** Of stories, beside the other actions. */
export const sharing = {
  share,
  promoteShare: onShare('give it all requests', 'promote'),
  cancelShare: onShare('take a share back', 'cancel'),
}

/** A version that was deployed without an edge gets no requests from one. */
const deployFirst: Action = {
  name: 'deploy, and wait for it',
  weight: 0,
  async run(order, chance) {
    await actions.deploy!.run(order, chance)
    await order.finish()
  },
}

export function sharesPlan(chance: Random): Action[] {
  const { deploy, cancel, rollBack, restartApp, stopApp, startApp, apply, touch } = actions
  const others = [deploy, cancel, rollBack, restartApp, stopApp, startApp, apply, touch]
  const { kill, restart, stopContainer, changeSettings, deleteEnvironment } = actions
  const all = [
    ...[share, share, share, sharing.promoteShare, sharing.cancelShare],
    ...[...others, kill, restart, stopContainer, changeSettings, deleteEnvironment].map(
      (one) => one!,
    ),
  ]
  const some = Array.from({ length: 3 + chance.below(5) }, () => chance.pick(all))
  return [deployFirst, share, ...some]
}

const sharesOf = ({ installation }: Order) =>
  installation
    .rows<Row & { watch: string }>(shared.replace('project_id', 'project_id, watch'))
    .filter(({ watch }) => JSON.parse(watch).share)

/** Whether one has begun, and nothing else is under way. */
export const isShared = (order: Order) =>
  order.installation.pending === 0 &&
  order.installation.rows('SELECT 1 FROM jobs').length === 0 &&
  sharesOf(order).length > 0

/** Each would last for a day. */
export async function endShares(order: Order) {
  if (order.installation.pending > 0) return
  for (const { id, project_id } of sharesOf(order))
    await order.request('POST', `/projects/${project_id}/deployments/${id}/cancel`)
}
