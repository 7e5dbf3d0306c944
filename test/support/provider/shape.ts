export type FakeToken = {
  login: string
  id: number
  scopes: string[]
  /** GitHub only: its scopes are permissions then, and no header tells them. */
  fineGrained?: boolean
}

export type FakeRef = { name: string; commit: string }
export type FakeHook = { id: number; url: string; secret: string; events: unknown }

/** By another system if it is a status. */
export type FakeCheck = {
  sha: string
  name: string
  state: 'pending' | 'success' | 'failure'
  isStatus?: boolean
  isOptional?: boolean
}

export type FakeRepository = {
  fullName: string
  defaultBranch: string
  private: boolean
  branches: FakeRef[]
  tags: FakeRef[]
  hooks: FakeHook[]
  statuses: Record<string, unknown>[]
  checks: FakeCheck[]
}

export type Fake = {
  tokens: Map<string, FakeToken>
  repositories: FakeRepository[]
  /** The most items that a page has, whatever was asked for. */
  perPage: number
}

export type Asked = {
  method: string
  /** Below the API's prefix. */
  path: string
  url: URL
  token: FakeToken
  body: any
}

/** What is particular to one provider. */
export type Shape = {
  prefix: string
  tokenOf: (request: Request) => string | null
  refuse: (why: 'unauthorized' | 'limit' | 'missing') => Response
  answer: (fake: Fake, asked: Asked) => Response
}

export type Page<Item> = { items: Item[]; page: number; pages: number; total: number }

export function pageOf<Item>(fake: Fake, items: Item[], size: string | null, page: string | null) {
  const perPage = Math.min(Number(size ?? 30), fake.perPage)
  const number = Number(page ?? 1)
  return {
    items: items.slice((number - 1) * perPage, number * perPage),
    page: number,
    pages: Math.ceil(items.length / perPage),
    total: items.length,
  }
}

/** A `Link` header as RFC 8288 has it, with the pages before and after. */
export function linkHeader(url: URL, { page, pages }: { page: number; pages: number }) {
  const to = (number: number, relation: string) => {
    const target = new URL(url)
    target.searchParams.set('page', String(number))
    return `<${target}>; rel="${relation}"`
  }
  const links = [
    ...(page > 1 ? [to(page - 1, 'prev'), to(1, 'first')] : []),
    ...(page < pages ? [to(page + 1, 'next'), to(pages, 'last')] : []),
  ]
  return links.length > 0 ? { Link: links.join(', ') } : {}
}

let lastHook = 4000
export const newHook = (hook: Omit<FakeHook, 'id'>): FakeHook => ({ id: ++lastHook, ...hook })
