import { expect, test } from 'bun:test'
import { readTar } from '../../src/git/tar-reader.ts'
import { aTar } from './tars.ts'

/** A header with thousands of keys that no other one has. */
function aHeader(at: number) {
  const keys = Array.from({ length: 5000 }, (_, key) => 10_000_000 + at * 5000 + key)
  const content = keys.map((key) => `13 ${key}=\n`).join('')
  return aTar([{ path: 'pax', type: 'x', content }], { end: false })
}

test('keys of headers that nothing reads are kept nowhere, however many there are', async () => {
  async function* archive() {
    for (let at = 0; at < 400; at++) yield aHeader(at)
    yield aTar([{ path: 'file', content: '1' }])
  }
  const paths: string[] = []
  for await (const { path } of readTar(archive())) paths.push(path)
  expect(paths).toEqual(['file'])
}, 20_000)
