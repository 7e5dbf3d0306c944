import { expect, test } from 'bun:test'
import { LineSplitter } from '../../src/docker/lines.ts'

const split = (pieces: (string | Uint8Array)[], maxLength?: number) => {
  const splitter = new LineSplitter(maxLength)
  const lines: string[] = []
  for (const piece of pieces) lines.push(...splitter.push(Buffer.from(piece)))
  return [...lines, ...splitter.end()]
}

test('a line that arrives in pieces is one line', () => {
  expect(split(['on', 'e\ntw', 'o\n', '\n', 'three'])).toEqual(['one', 'two', '', 'three'])
})

test('a character that arrives in pieces is one character', () => {
  const bytes = Buffer.from('é\n')
  expect(split([bytes.subarray(0, 1), bytes.subarray(1)])).toEqual(['é'])
})

test('bytes that are not UTF-8 are replaced', () => {
  expect(split([new Uint8Array([0x61, 0xff, 0x62, 0x0a])])).toEqual(['a\ufffdb'])
})

test('line ends of terminals are line ends, also when cut in half', () => {
  expect(split(['a\r\nb\r', '\nc\r'])).toEqual(['a', 'b', 'c'])
})

test('progress drawn over itself is collapsed to what was drawn last', () => {
  expect(split(['10%\r20%', '\r100%\n', '1\r2\r'])).toEqual(['100%', '2'])
})

test('a line past the limit is cut, never within a character', () => {
  expect(split(['abcdef\n'], 4)).toEqual(['abcd', 'ef'])
  expect(split(['abc😀f'], 4)).toEqual(['abc', '😀f'])
  expect(split(['ab', 'cd', 'ef'], 4)).toEqual(['abcd', 'ef'])
})
