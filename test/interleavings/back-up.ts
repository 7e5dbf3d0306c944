import { aTarget } from '../backups/a-target.ts'
import type { Action } from './actions.ts'
import type { Order } from './order.ts'

/** Of stories alone: the kept seeds would come to other orders. */
export const backUps: Record<string, Action> = {
  backUpService: {
    name: 'back up a service',
    weight: 0,
    run: (order) => backUp(order, { table: 'services', path: 'services', hold: 'pause' }),
  },
  backUpApp: {
    name: 'back up an environment',
    weight: 0,
    run: (order) => backUp(order, { table: 'environments', path: 'envs', hold: 'stop' }),
  },
  restoreService: {
    name: 'restore a backup over its service',
    weight: 0,
    run: (order) => act(order, 'restore', {}),
  },
  proveBackup: {
    name: 'prove a backup',
    weight: 0,
    run: (order) => act(order, 'prove', {}),
  },
  restoreNew: {
    name: 'restore a backup into a new service',
    weight: 0,
    run: (order) => act(order, 'restore', { into: 'new' }),
  },
}

function act(order: Order, what: 'restore' | 'prove', body: Record<string, unknown>) {
  const sql = "SELECT id FROM backups WHERE status = 'succeeded'"
  const backup = order.installation.rows<{ id: string }>(sql)[0]
  return backup ? order.request('POST', `/backups/${backup.id}/${what}`, body) : Promise.resolve()
}

/** Of the containers that are held meanwhile, in one way or the other. */
function backUp(
  order: Order,
  { table, path, hold }: { table: string; path: string; hold: string },
) {
  const { deps, rows } = order.installation
  const idOf = (table: string) => rows<{ id: string }>(`SELECT id FROM ${table}`)[0]!.id
  const targetId = aTarget(deps, idOf('users'))
  return order.request('POST', `/${path}/${idOf(table)}/backups`, { targetId, hold })
}
