import { z } from 'zod'
import { component, componentOf, listOf, does } from '../web/operation.ts'
import type { SliceOperations } from '../web/operation.ts'

/** `heading` is the matching section; null for the document as a whole. */
export const docs = component('Docs', () =>
  listOf(
    z.object({
      name: z.string(),
      title: z.string(),
      heading: z.string().nullable(),
      excerpt: z.string(),
      url: z.string(),
    }),
  ),
)

export const document = componentOf('Document', () => ({
  name: z.string(),
  title: z.string(),
  url: z.string(),
  headings: z.array(z.object({ id: z.string(), level: z.int(), title: z.string() })),
  text: z.string(),
}))

export const operations: SliceOperations = () => ({
  Health: {
    'GET /docs': does('List the documents, or with q the sections that have its words', docs()),
    'GET /docs/davit.schema.json': does(
      'Get the JSON Schema of davit.yaml',
      z.looseObject({ $schema: z.string() }),
    ),
    'GET /docs/:name': does('Get a document, with its Markdown', document()),
  },
})
