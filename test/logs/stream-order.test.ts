import { expect, test } from 'bun:test'
import type { NewLine } from '../../src/logs/log-line.tsx'
import { inStreamOrder } from '../../src/logs/stream-order.ts'

const line = (stream: NewLine['stream'], time: number, text: string) => ({ stream, time, text })

const inOrder = (lines: ReturnType<typeof line>[]) =>
  inStreamOrder(lines, { timeOf: ({ time }) => time, lead: 1 })

const texts = (lines: { text: string }[]) => lines.map(({ text }) => text)

test('an error that the engine stamped a moment before the output that came first stands after it', () => {
  const lines = [
    line('stderr', 100.2, 'Error: no'),
    line('stderr', 100.3, '  at main'),
    line('stdout', 100.25, 'starting'),
  ]
  expect(texts(inOrder(lines))).toEqual(['starting', 'Error: no', '  at main'])
})

test('lines further apart keep their order, and so do those of one stream', () => {
  const apart = [line('stderr', 100, 'warning'), line('stdout', 103, 'result')]
  expect(texts(inOrder(apart))).toEqual(['warning', 'result'])
  const back = [
    line('stdout', 900, 'one'),
    line('stdout', 100, 'two'),
    line('stdout', 500, 'three'),
  ]
  expect(texts(inOrder(back))).toEqual(['one', 'two', 'three'])
})

test('after a clock was set back, lines stand as the engine has them', () => {
  const lines = [line('stderr', 900, 'before'), line('stdout', 100, 'after')]
  expect(texts(inOrder(lines))).toEqual(['before', 'after'])
})

test('no line passes one of Davit’s own', () => {
  const lines = [
    line('stderr', 100, 'error'),
    line('system', 100, 'ended'),
    line('stdout', 100, 'again'),
  ]
  expect(texts(inOrder(lines))).toEqual(['error', 'ended', 'again'])
})
