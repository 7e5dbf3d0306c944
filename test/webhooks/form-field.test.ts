import { expect, test } from 'bun:test'
import { fieldValues } from '../../src/webhooks/form-field.ts'

const read = (form: string) => fieldValues(Buffer.from(form), 'payload').map(String)

test('the field says what a browser would have it say', () => {
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
  ]
  for (const form of forms)
    expect(read(form), form).toEqual(
      /payload=/.test(form) ? new URLSearchParams(form).getAll('payload') : [],
    )
})
