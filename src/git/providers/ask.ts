import type { z, ZodType } from 'zod'
import { Failure } from '../../errors.ts'
import { pinnedFetch } from '../../pinned-fetch.ts'
import type { Access } from './provider.ts'
import { refusalOf, silenceOf, stranger } from './refusals.ts'

/** The API of one provider, as one token's owner sees it. */
export type Api = Pick<Access, 'allow' | 'signal' | 'lookup' | 'timeout'> & {
  title: string
  /** Where people know it. */
  host: string
  /** What the paths are appended to. */
  base: string
  headers: Record<string, string>
}

export type Question<Schema extends ZodType = ZodType> = {
  path: string
  /** What is asked for, for the words of a refusal, such as “branches of ada/app”. */
  what: string
  method?: 'GET' | 'POST' | 'DELETE'
  body?: unknown
  schema: Schema
}

/** Asks the API and checks the answer's shape. Throws a ProviderError when it is of no use. */
export async function ask<Schema extends ZodType>(
  api: Api,
  question: Question<Schema>,
): Promise<{ data: z.output<Schema>; headers: Headers }> {
  const { path, what, method = 'GET', body, schema } = question
  const url = new URL(api.base + path)
  const place = { title: api.title, host: api.host, what }
  const response = await pinnedFetch(url, request(api, { method, body }), api).catch((error) => {
    throw error instanceof Failure ? silenceOf(error, place) : error
  })
  const text = await response.text()
  if (!response.ok) throw refusalOf(response, text, place)
  const parsed = schema.safeParse(text === '' ? null : parse(text))
  if (!parsed.success) throw stranger(place, parsed.error)
  return { data: parsed.data, headers: response.headers }
}

function request({ headers }: Api, { method, body }: { method: string; body?: unknown }) {
  const all = { Accept: 'application/json', 'User-Agent': 'Davit', ...headers }
  if (body === undefined) return { method, headers: all }
  return {
    method,
    headers: { ...all, 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** `owner/name` as part of a path. */
export const pathOf = (repository: string) =>
  repository.split('/').map(encodeURIComponent).join('/')
