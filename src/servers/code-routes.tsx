import { auditor } from '../audit/record.ts'
import type { Db } from '../db/index.ts'
import { found } from '../platform/errors.ts'
import type { Row } from '../resources/list.tsx'
import { factory } from '../web/factory.ts'
import { does, nothing } from '../web/operation.ts'
import type { SliceOperations } from '../web/operation.ts'
import { moveOn } from '../web/respond.tsx'
import { DeleteButton } from '../web/row-actions.tsx'
import { In } from '../web/times.tsx'
import { requireAdmin } from '../web/user-of.ts'
import { listOpenCodes, withdrawCode } from './code-store.ts'

export const codeRoutes = ({ db }: { db: Db }) =>
  factory.createApp().delete('/settings/server-codes/:codeId', requireAdmin, (c) => {
    const { name } = found('code', withdrawCode(db, c.req.param('codeId')))
    auditor(db)(c, 'server.withdrawn', { details: { name } })
    return moveOn(c, { to: '/settings/servers', said: 'Code withdrawn.', json: () => ({}) })
  })

/** Servers that have yet to join by their codes, for the list of those that have. */
export const expectedRows = (db: Db): Row[] =>
  listOpenCodes(db).map(({ id, name, address, labels, roles, expiresAt }) => ({
    id,
    name,
    tags: ['Expected'],
    acts: [],
    isKept: true,
    facts: [
      ...Object.entries(labels).map(([key, value]) => `${key}=${value}`),
      `roles: ${roles.join(', ') || 'none'}`,
      address,
      ['its code expires ', <In at={expiresAt} />],
    ],
    actions: (
      <DeleteButton
        path={`/settings/server-codes/${id}`}
        label={`Withdraw the code for ${name}`}
        question={{
          text: `Withdraw the code for ${name}? No server can join by it any more.`,
          answer: 'Withdraw code',
        }}
      >
        Withdraw
      </DeleteButton>
    ),
  }))

export const codeOperations: SliceOperations = () => ({
  Administration: {
    'DELETE /settings/server-codes/:codeId': does(
      'Withdraw the code of a server that has yet to join by it',
      nothing,
    ),
  },
})
