import { actions } from './actions.ts'
import type { Action } from './actions.ts'
import { apps } from './beginnings.ts'
import type { Order } from './order.ts'
import type { Random } from './random.ts'

/** More of them than of others end after their switch, while they are watched. */
export const aWatchedApp = (chance: Random) =>
  apps[chance.pick(['well', 'well', 'well', 'endsLater', 'endsLater', 'endsSoon', 'ill'] as const)]

const keep: Action = {
  name: 'keep a version that is watched',
  weight: 0,
  async run(order) {
    const sql = 'SELECT id, project_id FROM deployments WHERE watch_until IS NOT NULL'
    const [watched] = order.installation.rows<{ id: string; project_id: string }>(sql)
    if (!watched) return
    const { id, project_id } = watched
    await order.request('POST', `/projects/${project_id}/deployments/${id}/keep`)
  },
}

/** The first version behind the edge has none to go back to. */
export const watchedPlan = (chance: Random): Action[] => [
  actions.deploy!,
  ...chance.shuffled([
    ...[actions.deploy!, actions.deploy!, actions.deploy!, keep, keep],
    ...[actions.kill!, actions.kill!, actions.restart!, actions.restartApp!, actions.rollBack!],
    ...[actions.cancel!, actions.outage!, actions.touch!, actions.promoteAutomatically!],
  ]),
]

type Row = {
  id: string
  status: string
  error_step: string | null
  watch: string
  until: number | null
}

/** Each has ended, and only what went back is a failure of it. */
export function checkWatches({ installation }: Order, say: (fault: string) => void) {
  const sql =
    'SELECT id, status, error_step, watch, watch_until AS until FROM deployments WHERE watch IS NOT NULL'
  for (const { id, status, error_step, watch, until } of installation.rows<Row>(sql)) {
    const { end } = JSON.parse(watch) as { end: string | null }
    if (until !== null) say(`deployment ${id} is watched for ever`)
    else if (end === null) say(`the watch of deployment ${id} has no end`)
    const hasFailed = status === 'failed' && error_step === 'watching'
    if ((end === 'reverted') !== hasFailed) say(`deployment ${id} is ${status}, its watch ${end}`)
  }
}
