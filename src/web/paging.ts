import { zValidator } from '@hono/zod-validator'
import { z } from 'zod'
import { AppError } from '../errors.ts'

export type Page = { cursor?: string | undefined; limit: number }

const pageQuery = z.object({
  cursor: z.string().max(100).optional(),
  limit: z.coerce.number().int().min(1).max(500).default(50),
})

/** Reads `?cursor=` and `?limit=` (50 by default, 500 at most) into `c.req.valid('query')`. */
export const paged = () =>
  zValidator('query', pageQuery, (result) => {
    if (result.success) return
    const fields = result.error.issues.map(({ path, message }) => ({
      field: String(path[0]),
      message,
    }))
    throw new AppError('invalid', 'limit wants a whole number from 1 to 500.', { fields })
  })

/** Cuts a list that was read with one row too many; the last id kept is the cursor of the next page. */
export function pageOf<Item extends { id: string }>(items: Item[], { limit }: Page) {
  const kept = items.slice(0, limit)
  return { items: kept, nextCursor: items.length > limit ? kept.at(-1)!.id : null }
}
