import { expect, test } from 'bun:test'
import { formField } from '../../src/webhooks/form-field.ts'

const read = async (form: string) =>
  (await formField(Buffer.from(form), 'payload'))?.toString() ?? null

test('the field says what a browser would have it say', async () => {
  const forms = [
    '',
    'payload',
    'payload=',
    'payload=a+b%20c%2Bd%26e%3D=f',
    'payload=%7B%22a%22%3A%22%C3%BC%F0%9F%98%80%22%7D',
    'a=payload=1&payload=x&payloads=y&payload=z',
    '&&payload=x&',
    'payload=100%&x',
    'payload=%zz%4%a%',
    'payload=ü',
    `payload=${'%41b'.repeat(50_000)}&x=y`,
  ]
  for (const form of forms) {
    const values = /payload=/.test(form) ? new URLSearchParams(form).getAll('payload') : []
    expect(await read(form)).toBe(values.length === 1 ? values[0]! : null)
  }
})

test('a form of very many parts is not looked at to its end', async () => {
  expect(await read(`${'&'.repeat(1_000_000)}payload=x`)).toBeNull()
})
