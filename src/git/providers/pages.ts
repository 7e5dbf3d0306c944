import { z } from 'zod'
import { ask } from './ask.ts'
import type { Question } from './ask.ts'
import type { Api, Listing } from './provider.ts'
import { slow } from './refusals.ts'

type List<Item> = Omit<Question, 'schema' | 'method' | 'body'> & {
  schema: z.ZodType<Item>
  /** Items that move between pages are returned twice, and are recognised by this key. */
  key: (item: Item) => string
}

/** In milliseconds, for all pages together. */
const timeLimit = 10_000
const abreast = 6
const maxPages = 2_000

/** Maximum of items in a list, and of characters in their names. The rest is cut off. */
const maxItems = 20_000
const maxText = 2_000_000

export async function readAll<Item>(api: Api, list: List<Item>): Promise<Listing<Item>> {
  const deadline = AbortSignal.timeout(api.timeout ?? timeLimit)
  const hurried = { ...api, signal: AbortSignal.any([api.signal, deadline]) }
  const schema = z.array(list.schema)
  const items = new Map<string, Item>()
  let paths = [list.path]
  let read = 0
  let text = 0
  while (paths.length > 0 && read < maxPages && items.size < maxItems && text < maxText) {
    const now = paths.slice(0, abreast)
    const pages = Promise.all(now.map((path) => ask(hurried, { ...list, path, schema })))
    const answers = await pages.catch((error) => {
      if (api.signal.aborted || !deadline.aborted) throw error
      if (read === 0) throw slow(api, error)
      return null
    })
    if (!answers) break
    for (const { data } of answers)
      for (const item of data) {
        items.set(list.key(item), item)
        text += list.key(item).length
      }
    const last = { path: now.at(-1)!, ...answers.at(-1)! }
    paths = paths.length > abreast ? paths.slice(abreast) : following(last, { isFirst: read === 0 })
    read += now.length
  }
  return { items: [...items.values()], truncated: paths.length > 0 }
}

type Page = { path: string; data: unknown[]; headers: Headers }

/** All later pages if their number is known, else the next one. */
function following(page: Page, { isFirst }: { isFirst: boolean }): string[] {
  const links = readLinks(page.headers.get('Link') ?? '')
  const total = isFirst ? countPages(page, links.get('last')) : 0
  if (total > 1)
    return Array.from({ length: total - 1 }, (_, i) => withQuery(page.path, { page: `${i + 2}` }))
  const number = page.headers.get('X-Next-Page')
  if (number) return [withQuery(page.path, { page: number })]
  const next = links.get('next')
  // Only the query is used: behind a proxy the link may name another host.
  return next ? [withQuery(page.path, Object.fromEntries(next.searchParams))] : []
}

/** GitHub and Gitea link to the last page, GitLab reports a number of pages, Gitea one of items. */
function countPages({ headers, data }: Page, last: URL | undefined): number {
  const items = Number(headers.get('X-Total-Count') ?? 0)
  const pages =
    Number(headers.get('X-Total-Pages') ?? 0) ||
    Number(last?.searchParams.get('page') ?? 0) ||
    (data.length > 0 ? Math.ceil(items / data.length) : 0)
  return Number.isInteger(pages) ? Math.min(pages, maxPages) : 0
}

function readLinks(header: string): Map<string, URL> {
  const links = new Map<string, URL>()
  for (const [, target, relation] of header.matchAll(/<([^<>]{1,4000})>\s*;\s*rel="(\w+)"/g)) {
    const url = URL.parse(target!)
    if (url) links.set(relation!, url)
  }
  return links
}

function withQuery(path: string, values: Record<string, string>): string {
  const [base, query] = path.split('?')
  const parameters = new URLSearchParams(query)
  for (const [name, value] of Object.entries(values)) parameters.set(name, value)
  return `${base}?${parameters}`
}
