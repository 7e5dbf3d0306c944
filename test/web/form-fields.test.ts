import { expect, test } from 'bun:test'
import { factory } from '../../src/web/factory.ts'
import { answerError } from '../../src/web/failures.tsx'
import { fieldsOf } from '../../src/web/form-fields.ts'

const app = factory.createApp().post('/', async (c) => {
  const fields = await fieldsOf(c)
  expect(await fieldsOf(c)).toBe(fields) // read once
  return c.json(fields && Object.fromEntries([...fields].map(([name, all]) => [name, all.length])))
})
app.onError(answerError)

const post = (body: string | URLSearchParams | FormData, type?: string) =>
  app.request('/', {
    method: 'POST',
    body,
    headers: { Accept: 'application/json', ...(type && { 'Content-Type': type }) },
  })

const urlencoded = 'application/x-www-form-urlencoded'
const multipart = (count: number) => {
  const form = new FormData()
  for (let i = 0; i < count; i++) form.append(`f${i % 7}`, '')
  return form
}

test('a form of 1,000 fields is read, and one more is refused before it is', async () => {
  for (const body of [new URLSearchParams('a&'.repeat(999) + 'b'), multipart(1000)])
    expect((await post(body)).status).toBe(200)
  for (const body of [new URLSearchParams('a&'.repeat(1000) + 'b'), multipart(1001)])
    expect((await post(body)).status).toBe(413)
})

test('a million fields are counted, not parsed', async () => {
  let parsed = 0
  const { formData } = Response.prototype
  Response.prototype.formData = function () {
    parsed++
    return formData.call(this)
  }
  try {
    expect((await post('a&'.repeat(500_000), urlencoded)).status).toBe(413)
    expect((await post('&'.repeat(1_000_000), urlencoded)).status).toBe(413)
  } finally {
    Response.prototype.formData = formData
  }
  expect(parsed).toBe(0)
})

test('the boundary that is counted is the one that is read', async () => {
  const part = '--A\r\nContent-Disposition: form-data; name="f"\r\n\r\n\r\n'
  const body = `${part.repeat(1001)}--A--`
  for (const type of [
    'xboundary=B; boundary=A',
    'boundary=A; xboundary=B',
    'boundary="A"',
    'BOUNDARY=A',
    'x="; boundary=B"; boundary=A',
  ])
    expect((await post(body, `multipart/form-data; ${type}`)).status, type).toBe(413)
  for (const type of [
    '; boundary=A',
    'boundary=A; boundary=B',
    'boundary=B; boundary=A',
    'boundary=A, boundary=B',
    'boundary=A, multipart/form-data; boundary=B',
    'x="; boundary=B; boundary=A',
    'x=\\"; boundary=B; "; boundary=A',
    "boundary*=utf-8''A",
    'boundary="A\\""',
    `boundary=${'A'.repeat(71)}`,
  ])
    expect((await post(body, `multipart/form-data; ${type}`)).status, type).toBe(400)
  const good = `${part.repeat(3)}--A--`
  const read = await post(good, 'multipart/form-data; charset=utf-8; boundary=A')
  expect(await read.json()).toEqual({ f: 3 })
})

test('a name of over 200 characters is refused, a long value is not', async () => {
  expect((await post(`${'n'.repeat(201)}=1`, urlencoded)).status).toBe(400)
  expect((await post(`n=${'v'.repeat(500_000)}`, urlencoded)).status).toBe(200)
})

test.each([
  ['multipart/form-data', 'no boundary'],
  ['multipart/form-data; boundary=x', 'no parts'],
  ['multipart/form-data; boundary=""', 'an empty one'],
])('a broken form is a bad request: %s', async (type, body) => {
  expect((await post(body, type)).status).toBe(400)
})

test('what is no form has no fields', async () => {
  expect(await (await post('{}', 'application/json')).json()).toBeNull()
  expect(await (await post('a=b', 'text/plain')).json()).toBeNull()
})
