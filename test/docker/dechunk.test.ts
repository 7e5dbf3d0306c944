import { expect, test } from 'bun:test'
import { Dechunker } from '../../src/docker/dechunk.ts'

const encode = (text: string) => new TextEncoder().encode(text)

function payloadOf(pieces: Uint8Array[]) {
  const chunks = new Dechunker()
  const payload = Buffer.concat(pieces.map((piece) => Buffer.from(chunks.push(piece)))).toString()
  return { payload, done: chunks.done }
}

const body = '5\r\nhello\r\n1A;name=value\r\n, this is a longer piece\r\n\r\n0\r\n\r\n'
const payload = 'hello, this is a longer piece\r\n'

test('chunks are joined, whatever pieces they come in', () => {
  expect(payloadOf([encode(body)])).toEqual({ payload, done: true })
  expect(payloadOf([...encode(body)].map((byte) => Uint8Array.of(byte)))).toEqual({
    payload,
    done: true,
  })
  for (let at = 1; at < body.length; at++)
    expect(payloadOf([encode(body.slice(0, at)), encode(body.slice(at))]).payload).toBe(payload)
})

test('a body that breaks off is not done', () => {
  expect(payloadOf([encode('5\r\nhel')])).toEqual({ payload: 'hel', done: false })
  expect(payloadOf([encode('5\r\nhello\r\n')])).toEqual({ payload: 'hello', done: false })
})
