import { z } from 'zod'
import { whole } from './fields.ts'
import { query } from './query.ts'

export type Page = { cursor?: string | undefined; limit: number }

export const firstPage: Page = { limit: 50 }

const notACursor = 'must be the nextCursor of the previous page.'

export const pageQuery = z.object({
  cursor: z.guid(notACursor).optional(),
  limit: whole('how many', { min: 1, max: 500 }).default(firstPage.limit),
})

/** Reads `?cursor=` (an id by default) and `?limit=` (50 by default, at most 500). */
export const paged = (form?: RegExp) =>
  query(
    form ? pageQuery.extend({ cursor: z.string().regex(form, notACursor).optional() }) : pageQuery,
  )

/** Cuts a list that was read with one extra row; the last id kept is the cursor of the next page. */
export function pageOf<Item extends { id: string }>(items: Item[], { limit }: Page) {
  const kept = items.slice(0, limit)
  return { items: kept, nextCursor: items.length > limit ? kept.at(-1)!.id : null }
}
