import { z } from 'zod'
import { component, listOf, does } from '../web/operation.ts'
import type { SliceOperations } from '../web/operation.ts'
import { kinds } from './items.ts'

/** A page to get, or an action: a POST with these fields. */
export const found = component('Found', () =>
  listOf(
    z.object({
      kind: z.enum(kinds),
      name: z.string(),
      detail: z.string(),
      url: z.string(),
      method: z.enum(['GET', 'POST']),
      fields: z.record(z.string(), z.string()),
    }),
  ),
)

export const operations: SliceOperations = () => ({
  Projects: {
    'GET /search': does(
      'Find pages, settings, documents and actions by their names; 20 of them, best first',
      found(),
    ),
  },
})
