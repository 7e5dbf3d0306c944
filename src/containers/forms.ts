import { z } from 'zod'

/** The list as it changes: rendered for a page, or as JSON. */
export const followQuery = z.object({
  format: z.enum(['html', 'json'], 'wants html or json.').optional(),
})
