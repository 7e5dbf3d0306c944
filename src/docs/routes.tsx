import { z } from 'zod'
import { found } from '../platform/errors.ts'
import { davitSchema } from '../environments/davit-form.ts'
import { docPath } from '../web/components.tsx'
import { factory } from '../web/factory.ts'
import { query } from '../web/query.ts'
import { show } from '../web/respond.tsx'
import { contents, contentsDocument, findDocument } from './documents.ts'
import { ContentsPage, DocumentPage, SearchPage } from './pages.tsx'
import { search } from './search.ts'

const asked = z.object({
  q: z.string().trim().max(200, 'Must be 200 characters or fewer.').default(''),
})

/** Needs no login, as it contains no secrets. */
export const docsRoutes = () =>
  factory
    .createApp()
    .get('/docs', query(asked), (c) => {
      const { q } = c.req.valid('query')
      if (!q)
        return show(c, {
          title: 'Documentation',
          page: () => <ContentsPage document={contentsDocument()} />,
          json: () => listed(allDocuments()),
        })
      const results = search(q)
      return show(c, {
        title: `${q} · Documentation`,
        page: () => <SearchPage q={q} results={results} />,
        json: () =>
          listed(
            results.map(({ document, section, excerpt }) => ({
              name: document.name,
              title: document.title,
              heading: section.level === 1 ? null : section.title,
              excerpt: excerpt.join(''),
              url: docPath(`${document.name}#${section.id}`),
            })),
          ),
      })
    })
    .get('/docs/davit.schema.json', (c) => c.json(davitSchema()))
    .get('/docs/:name', (c) => {
      const document = found('document', findDocument(c.req.param('name')))
      const { name, title, markdown, headings } = document
      return show(c, {
        title: `${title} · Documentation`,
        page: () => <DocumentPage document={document} />,
        json: () => ({ name, title, url: docPath(name), headings, text: markdown }),
      })
    })

const allDocuments = () =>
  contents().flatMap(({ entries }) =>
    entries.map(({ name, title, about }) => ({
      name,
      title,
      heading: null,
      excerpt: about,
      url: docPath(name),
    })),
  )

const listed = <Item,>(items: Item[]) => ({ items, nextCursor: null })
