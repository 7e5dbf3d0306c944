import { expect, test } from 'bun:test'
import { Hono } from 'hono'
import { z } from 'zod'
import { AppError } from '../../src/platform/errors.ts'
import { line, whole } from '../../src/web/fields.ts'
import { query } from '../../src/web/query.ts'

const wanted = z.object({
  sourceId: line('the id of a source', { max: 100 }),
  limit: whole('how many', { min: 1, max: 9 }).default(5),
})

async function read(search: string) {
  let refusal: Error | undefined
  const app = new Hono().get('/', query(wanted), (c) => c.json(c.req.valid('query')))
  app.onError((error, c) => c.text((refusal = error).message))
  const answer = await app.request(`/?${search}`)
  return refusal ?? (await answer.json())
}

test('names are read as forms and as JSON write them, and no others', async () => {
  expect(await read('source_id=a&limit=2')).toEqual({ sourceId: 'a', limit: 2 })
  expect(await read('sourceId=a&other=b')).toEqual({ sourceId: 'a', limit: 5 })
})

test('an empty value is none', async () => {
  expect(await read('source_id=a&source_id=&limit=')).toEqual({ sourceId: 'a', limit: 5 })
})

test('what is wrong is refused by its name in our words', async () => {
  const refusal = await read('source_id=&limit=10')
  expect(refusal).toBeInstanceOf(AppError)
  expect(refusal).toMatchObject({
    code: 'invalid',
    message: 'source_id is required. limit must be a whole number from 1 to 9 (how many).',
    fields: [{ field: 'source_id' }, { field: 'limit' }],
  })
  expect(await read('source_id=a&source_id=b')).toMatchObject({ fields: [{ field: 'source_id' }] })
})
