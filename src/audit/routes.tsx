import type { Deps } from '../deps.ts'
import { factory } from '../web/factory.ts'
import { check } from '../web/input.ts'
import { pageOf, paged } from '../web/paging.ts'
import { requireAdmin } from '../web/require-admin.ts'
import { show } from '../web/respond.tsx'
import { userOf } from '../web/user-of.ts'
import { AuditPage, Events } from './audit-page.tsx'
import { filterQuery } from './filter.ts'
import { eventJson } from './json.ts'
import { listEvents } from './store.ts'

/** Who did what, to what, from where and when: for admins. */
export const auditRoutes = ({ db }: Pick<Deps, 'db'>) =>
  factory.createApp().get('/settings/audit', requireAdmin, paged(), (c) => {
    const user = userOf(c)
    const page = c.req.valid('query')
    const { cursor, limit, ...rest } = c.req.query()
    const query = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== ''))
    const filter = check(filterQuery, { kind: 'form', data: query })
    const { items: events, nextCursor } = pageOf(listEvents(db, { filter, page }), page)
    return show(c, {
      title: 'Audit',
      page: () => <AuditPage {...{ user, events, query, nextCursor }} />,
      partial: () => <Events {...{ events, query, nextCursor }} />,
      json: () => ({ items: events.map(eventJson), nextCursor }),
    })
  })
