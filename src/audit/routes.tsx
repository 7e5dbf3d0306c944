import type { Db } from '../db/index.ts'
import { factory } from '../web/factory.ts'
import { pageOf, pageQuery } from '../web/paging.ts'
import { query } from '../web/query.ts'
import { requireAdmin } from '../web/user-of.ts'
import { show } from '../web/respond.tsx'
import { settingsView } from '../web/settings-frame.tsx'
import { Events, FilterForm } from './audit-page.tsx'
import { eventJson } from './json.ts'
import { listEvents } from './store.ts'
import type { Filter } from './store.ts'
import { z } from 'zod'
import { line } from '../web/fields.ts'
import { actionNames } from './actions.ts'

/** Only for admins. */
export const auditRoutes = ({ db }: { db: Db }) =>
  factory.createApp().get('/settings/audit', requireAdmin, query(auditQuery), (c) => {
    const { filter, page } = c.req.valid('query')
    const { cursor, limit, ...asked } = c.req.query()
    const typed = Object.fromEntries(Object.entries(asked).filter(([, value]) => value !== ''))
    const { items: events, nextCursor } = pageOf(listEvents(db, { filter, page }), page)
    const partial = () => <Events {...{ events, query: typed, nextCursor }} />
    const view = settingsView(c, {
      title: 'Audit',
      path: '/settings/audit',
      list: () => (
        <>
          <FilterForm query={typed} />
          {partial()}
        </>
      ),
      partial,
      json: () => ({ items: events.map(eventJson), nextCursor }),
    })
    return show(c, view)
  })

const day = 24 * 3_600_000

const isDay = (text: string) => /^\d{4}-\d{2}-\d{2}$/.test(text)

/** A date, or a time as in RFC 3339; in UTC unless it has an offset. */
const moment = z
  .union([z.iso.date(), z.iso.datetime({ offset: true })], 'must be a day such as 2026-08-31.')
  .optional()

const auditQuery = pageQuery
  .extend({
    actor: line('an e-mail address or a part of it', { max: 254 }).optional(),
    action: z.enum(actionNames, 'must be an action such as login.failed.').optional(),
    object: line('the kind, name or id of an object', { max: 300 }).optional(),
    from: moment,
    to: moment,
  })
  .transform(({ cursor, limit, from, to, ...named }) => {
    const filter: Filter = {
      ...named,
      from: from ? new Date(from) : undefined,
      until: to ? endOf(to) : undefined,
    }
    return { filter, page: { cursor, limit } }
  })

/** A date includes its whole day, a time its millisecond. */
const endOf = (to: string) => new Date(new Date(to).getTime() + (isDay(to) ? day : 1))
