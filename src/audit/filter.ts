import { z } from 'zod'
import { line } from '../web/fields.ts'
import { pageQuery } from '../web/paging.ts'
import { actionNames } from './actions.ts'
import type { Filter } from './store.ts'

const day = 24 * 3_600_000

const isDay = (text: string) => /^\d{4}-\d{2}-\d{2}$/.test(text)

/** A day, or a moment as RFC 3339 writes it; both in UTC unless it says otherwise. */
const moment = z
  .union([z.iso.date(), z.iso.datetime({ offset: true })], 'wants a day such as 2026-08-31.')
  .optional()

/** Which events are wanted, and which page of them. */
export const auditQuery = pageQuery
  .extend({
    actor: line('an e-mail address or a part of it', { max: 254 }).optional(),
    action: z.enum(actionNames, 'wants an action such as login.failed.').optional(),
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

/** A day counts to its end, a moment to itself. */
const endOf = (to: string) => new Date(new Date(to).getTime() + (isDay(to) ? day : 1))
