import type { Db } from '../db/index.ts'
import { factory } from '../web/factory.ts'
import { pageOf } from '../web/paging.ts'
import { query } from '../web/query.ts'
import { requireAdmin } from '../web/require-admin.ts'
import { show } from '../web/respond.tsx'
import { userOf } from '../web/user-of.ts'
import { AuditPage, Events } from './audit-page.tsx'
import { auditQuery } from './filter.ts'
import { eventJson } from './json.ts'
import { listEvents } from './store.ts'

/** Who did what, to what, from where and when: for admins. */
export const auditRoutes = ({ db }: { db: Db }) =>
  factory.createApp().get('/settings/audit', requireAdmin, query(auditQuery), (c) => {
    const user = userOf(c)
    const { filter, page } = c.req.valid('query')
    const { cursor, limit, ...asked } = c.req.query()
    const typed = Object.fromEntries(Object.entries(asked).filter(([, value]) => value !== ''))
    const { items: events, nextCursor } = pageOf(listEvents(db, { filter, page }), page)
    return show(c, {
      title: 'Audit',
      page: () => <AuditPage {...{ user, events, query: typed, nextCursor }} />,
      partial: () => <Events {...{ events, query: typed, nextCursor }} />,
      json: () => ({ items: events.map(eventJson), nextCursor }),
    })
  })
