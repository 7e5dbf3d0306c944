import { z } from 'zod'
import { ranges } from './sample-history.ts'
import type { Range } from './sample-history.ts'

/** What a container uses: rendered for its page, or as JSON. */
export const statsQuery = z.object({
  format: z.enum(['html', 'json'], 'wants html or json.').optional(),
})

export const usageQuery = z.object({
  range: z.enum(Object.keys(ranges) as Range[], 'wants hour, day or week.').default('hour'),
})
