import { z } from 'zod'
import { found } from '../platform/errors.ts'
import { davitSchema } from '../environments/davit-form.ts'
import { docPath, PageHead } from '../web/components.tsx'
import { factory } from '../web/factory.ts'
import { query } from '../web/query.ts'
import { show } from '../web/respond.tsx'
import { contents, contentsDocument, findDocument } from './documents.ts'
import { search } from './search.ts'
import type { Child } from 'hono/jsx'
import { raw } from 'hono/html'
import { version } from '../platform/root.ts'
import { Button } from '../web/form.tsx'
import type { Document } from './documents.ts'
import type { Heading } from './markdown.ts'
import type { SearchResult } from './search.ts'

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
          page: () => <DocumentPage document={contentsDocument()} crumb={false} />,
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
        page: () => <DocumentPage document={document} crumb />,
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

/** Its HTML is of our own text, and was escaped. */
const DocumentPage = ({ document, crumb }: { document: Document; crumb: boolean }) => (
  <Docs title={document.title} crumb={crumb} current={document}>
    <div class="doc-text">{raw(document.html)}</div>
  </Docs>
)

const SearchPage = ({ q, results }: { q: string; results: SearchResult[] }) => (
  <Docs title={`Results for “${q}”`} crumb q={q}>
    {results.length === 0 ? (
      <p>Nothing found. Every word must be in the section: try fewer words, or other ones.</p>
    ) : (
      <ol class="doc-results">
        {results.map(({ document, section, excerpt }) => (
          <li>
            <a href={docPath(`${document.name}#${section.id}`)}>
              {section.level === 1 ? document.title : `${document.title}: ${section.title}`}
            </a>
            <p class="muted">
              {excerpt.map((text, at) => (at % 2 === 0 ? text : <mark>{text}</mark>))}
            </p>
          </li>
        ))}
      </ol>
    )}
  </Docs>
)

/** The layout of all pages of the documentation, with search and contents. */
const Docs = ({
  title,
  crumb,
  current,
  q,
  children,
}: {
  title: string
  crumb: boolean
  current?: Document
  q?: string
  children: Child
}) => (
  <div class="docs">
    <div class="docs-main">
      <PageHead title={title} crumbs={crumb ? [{ href: docPath(), name: 'Documentation' }] : []} />
      <form class="docs-search" role="search" action={docPath()}>
        <input
          class="input"
          type="search"
          name="q"
          value={q}
          maxlength={200}
          aria-label="Search the documentation"
          placeholder="Search"
        />
        <Button variant="outline">Search</Button>
        <a class="docs-jump" href="#contents">
          Contents
        </a>
      </form>
      {children}
      <p class="docs-version muted">For Davit {version}, the version that runs here.</p>
    </div>
    <nav id="contents" class="docs-nav" aria-label="Contents" tabindex={-1}>
      {contents().map((group) => (
        <>
          <h2>{group.title}</h2>
          <ul>
            {group.entries.map(({ name, title }) => (
              <li>
                <a href={docPath(name)} aria-current={name === current?.name ? 'page' : undefined}>
                  {title}
                </a>
                {name === current?.name && <Sections headings={current.headings} />}
              </li>
            ))}
          </ul>
        </>
      ))}
    </nav>
  </div>
)

const Sections = ({ headings }: { headings: Heading[] }) => (
  <ul>
    {headings
      .filter(({ level }) => level === 2)
      .map(({ id, title }) => (
        <li>
          <a href={`#${id}`}>{title}</a>
        </li>
      ))}
  </ul>
)
