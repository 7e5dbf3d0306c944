import { expect, test } from 'bun:test'
import { problemIn } from '../../src/edge/certificate-log.ts'

const line = (error: unknown) =>
  JSON.stringify({ msg: 'could not get certificate from issuer', identifier: 'a.test', error })

test('what an authority said is read from Caddy’s log, for its host only', () => {
  const limited = line('HTTP 429 urn:ietf:params:acme:error:rateLimited - many')
  expect(problemIn(limited, 'a.test')).toEqual({ type: 'rateLimited', detail: 'many' })
  expect(problemIn(limited, 'test')).toBeNull()
  expect(problemIn(line('dial tcp'), 'a.test')).toEqual({ type: null, detail: 'dial tcp' })
})

test('other lines say nothing', () => {
  const words = 'could not get certificate from issuer a.test'
  const others = ['', 'a.test', words, `{${words}`, `["${words}"]`, `"${words}"`, line({}), 'null']
  for (const other of [...others, line('x'.repeat(40_000))])
    expect(problemIn(other, 'a.test')).toBeNull()
})
