import { expect, test } from 'bun:test'
import { commonLayers, withoutLayers } from '../../src/docker/index.ts'
import { tarOf } from '../../src/docker/tar.ts'

test('a layer is common only with the same ones below it, and none above', () => {
  const common = (...others: string[][]) => commonLayers(['a', 'b', 'c', 'a'], others)
  expect(common()).toEqual([])
  expect(common(['b', 'c'], ['x', 'a'])).toEqual([])
  expect(common(['a', 'b', 'd'])).toEqual(['b']) // `a` is needed again
  expect(common(['a'], ['a', 'b', 'c', 'a', 'e'])).toEqual(['a', 'b', 'c', 'a'])
})

const [first, second] = ['1', '2'].map((digit) => `sha256:${digit.repeat(64)}`) as [string, string]
const files = [
  { path: `blobs/sha256/${'1'.repeat(64)}`, content: 'x'.repeat(5000), mode: 0o644 },
  { path: `blobs/sha256/${'2'.repeat(64)}`, content: 'y'.repeat(1024), mode: 0o644 },
  { path: 'manifest.json', content: '[]', mode: 0o644 },
]

/** The archive, and its parts from each file on. */
function anArchive(archived = files) {
  const whole = tarOf(archived)
  let at = 0
  const rests = archived.map(({ content }) => {
    at += 512 + Math.ceil(content.length / 512) * 512
    return whole.subarray(at)
  })
  return { whole, rests }
}

async function filtered(archive: Uint8Array, layers: string[], size = 700) {
  async function* parts() {
    for (let at = 0; at < archive.length; at += size) yield archive.subarray(at, at + size)
  }
  return Buffer.concat(await Array.fromAsync(withoutLayers(parts(), layers)))
}

test('an archive lacks the layers that are left out, however it arrives', async () => {
  const { whole, rests } = anArchive()
  for (const size of [1, 511, 512, 513, 100_000]) {
    expect(await filtered(whole, [first], size)).toEqual(Buffer.from(rests[0]!))
    expect(await filtered(whole, [first, second], size)).toEqual(Buffer.from(rests[1]!))
    expect(await filtered(whole, [], size)).toEqual(Buffer.from(whole))
  }
})

test('what isn’t such an archive is passed on as it is, also a file whose size stands elsewhere', async () => {
  const odd = Buffer.from('{"tags":["one"]}')
  expect(await filtered(odd, [first])).toEqual(odd)
  const large = Buffer.from(anArchive().whole)
  large.write('x', 156)
  expect(await filtered(large, [second])).toEqual(large)
})
