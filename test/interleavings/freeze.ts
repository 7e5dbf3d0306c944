import type { Action } from './actions.ts'
import type { Order } from './order.ts'

const idIn = (order: Order, sql: string) => order.installation.rows<{ id: string }>(sql)[0]?.id

const second = 'SELECT id FROM environments ORDER BY id LIMIT 1 OFFSET 1'

/** Of stories alone: an environment is frozen for longer than they take, until someone ends it. */
export const freezing: Record<'freezeSecond' | 'endFreeze', Action> = {
  freezeSecond: {
    name: 'freeze the second environment',
    weight: 0,
    run: (order) =>
      order.request('POST', `/envs/${idIn(order, second)}/freezes`, {
        until: new Date(Date.now() + 36_000_000).toISOString(),
        reason: 'the fair',
      }),
  },
  endFreeze: {
    name: 'end the freeze',
    weight: 0,
    async run(order) {
      const id = idIn(order, 'SELECT id FROM freezes')
      if (id) await order.request('DELETE', `/envs/${idIn(order, second)}/freezes/${id}`)
    },
  },
}
