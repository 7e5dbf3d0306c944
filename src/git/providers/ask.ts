import { z } from 'zod'
import type { ZodType } from 'zod'
import { Failure } from '../../platform/errors.ts'
import { parse } from '../../platform/parse.ts'
import { pinnedFetch } from '../../platform/pinned-fetch.ts'
import { KeyedLock } from '../../platform/semaphore.ts'
import type { Access } from './provider.ts'
import { readAnswer } from './read-answer.ts'
import type { Shape } from './read-answer.ts'
import { refusalOf, silenceOf, stranger } from './refusals.ts'

/** The API of one provider, as one token's owner sees it. */
export type Api = Pick<Access, 'ownerId' | 'allow' | 'signal' | 'lookup' | 'timeout'> & {
  title: string
  /** Where people know it. */
  host: string
  /** The base of the paths. */
  base: string
  headers: Record<string, string>
}

export type Question<Schema extends ZodType = ZodType> = {
  path: string
  /** What is requested, for the message of a refusal, such as “branches of ada/app”. */
  what: string
  method?: 'GET' | 'POST' | 'DELETE'
  body?: unknown
  schema: Schema
}

/** Bytes of a response: a page of 100 repositories needs less than half of it. */
const maxBytes = 2 * 1024 * 1024

/** Characters of a response that is parsed on this thread: a longer one is parsed on another. */
const maxHere = 16 * 1024

/** For each owner: the runtime has at most 256 requests at once, which silent servers would hold for seconds. */
const turns = new KeyedLock(8)

/** Calls the API and validates the response. Throws a ProviderError when it can't be used. */
export async function ask<Schema extends ZodType>(
  api: Api,
  question: Question<Schema>,
): Promise<{ data: z.output<Schema>; headers: Headers }> {
  const { path, what, method = 'GET', body, schema } = question
  const url = new URL(api.base + path)
  const place = { title: api.title, host: api.host, what }
  const headers = { Accept: 'application/json', 'User-Agent': 'Davit', ...api.headers }
  const json = { 'Content-Type': 'application/json' }
  const asked =
    body === undefined
      ? { method, headers }
      : { method, headers: { ...headers, ...json }, body: JSON.stringify(body) }
  const send = () => pinnedFetch(url, asked, { ...api, maxBytes })
  const sent = api.ownerId === undefined ? send() : turns.run(api.ownerId, api.signal, send)
  const response = await sent.catch((error) => {
    throw error instanceof Failure ? silenceOf(error, place) : error
  })
  const text = await response.text()
  if (!response.ok) throw refusalOf(response, text, place)
  const parsed = schema.safeParse(await read(api, { text, schema, place }))
  if (!parsed.success) throw stranger(place, parsed.error)
  return { data: parsed.data, headers: response.headers }
}

async function read(
  { host, signal }: Api,
  { text, schema, place }: { text: string; schema: ZodType; place: Parameters<typeof stranger>[0] },
) {
  const shape = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as Shape
  if (text.length <= maxHere) return readAnswer(text, shape)
  return parse({ readAnswer }, [text, shape], {
    tooLong: () => stranger(place),
    owner: host,
    signal,
  })
}

/** `owner/name` as part of a path. */
export const pathOf = (repository: string) =>
  repository.split('/').map(encodeURIComponent).join('/')
