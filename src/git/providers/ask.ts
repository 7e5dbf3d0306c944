import { z } from 'zod'
import type { ZodType } from 'zod'
import { Failure } from '../../platform/errors.ts'
import { parse } from '../../platform/parse.ts'
import { pinnedFetch } from '../../platform/pinned-fetch.ts'
import { KeyedLock } from '../../platform/semaphore.ts'
import type { Api } from './provider.ts'
import { readAnswer } from './read-answer.ts'
import type { Shape } from './read-answer.ts'
import { refusalOf, silenceOf, stranger } from './refusals.ts'

export type Question<Schema extends ZodType = ZodType> = {
  path: string
  /** Names the subject in messages, such as “branches of ada/app”. */
  what: string
  method?: 'GET' | 'POST' | 'DELETE'
  body?: unknown
  schema: Schema
}

/** In bytes. A page of 100 repositories takes less than half of it. */
const maxBytes = 2 * 1024 * 1024

/** In characters. A longer response is parsed on another thread. */
const maxHere = 16 * 1024

/** Per owner, since Bun runs at most 256 requests at once, and silent servers could block all of them. */
const turns = new KeyedLock(8)

/** Validates the response. Throws a ProviderError when it is unusable. */
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
  const send = () => pinnedFetch(url, asked, { ...api, maxBytes, keepsMethod: true })
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
  return parse<typeof readAnswer>('readAnswer', [text, shape], {
    tooLong: () => stranger(place),
    owner: host,
    signal,
  })
}

export const pathOf = (repository: string) =>
  repository.split('/').map(encodeURIComponent).join('/')
