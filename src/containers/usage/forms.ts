import { z } from 'zod'
import { ranges } from './sample-history.ts'
import type { Range } from './sample-history.ts'

export const usageQuery = z.object({
  range: z.enum(Object.keys(ranges) as Range[], 'wants hour, day or week.').default('hour'),
})
