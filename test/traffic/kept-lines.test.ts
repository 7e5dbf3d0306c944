import { expect, test } from 'bun:test'
import { KeptLines } from '../../src/traffic/kept-lines.ts'

const start = Date.parse('2026-11-20T03:00:00Z')
const request = (seconds: number) => ({
  ...{
    requests: 1,
    time: start + seconds * 1000,
    key: 'app.test',
    host: 'app.test',
    client: '203.0.113.7',
    isForwarded: false,
    share: null,
  },
  ...{ method: 'GET', path: '/', status: 200, received: 0, sent: 1, seconds: 0.01 },
})

test('many requests at once keep no one from having lines later', () => {
  const kept = new KeptLines()
  for (let at = 0; at < 3000; at++) kept.of(`source ${at % 3}`, request(0))
  expect(kept.of('another', request(0.1))).toEqual([])
  const texts = kept.of('another', request(10)).map(({ text }) => text)
  expect(texts).toEqual([
    'There is no log line here for 1 request, because of the rate. All are counted.',
    'GET app.test/ → 200, 10.0 ms, 1 B, 203.0.113.7',
  ])
})

test('requests for which another one has the line are among those that lack one', () => {
  const kept = new KeptLines()
  expect(kept.of('source', { ...request(0), requests: 10 })).toHaveLength(1)
  const [note] = kept.of('source', request(1))
  expect(note!.text).toStartWith('There is no log line here for 9 requests')
})

test('a clock that was put back keeps no request from having a line', () => {
  const kept = new KeptLines()
  for (let at = 0; at < 3000; at++) kept.of('source', request(7200))
  kept.of('source', request(0))
  expect(kept.of('source', request(10))).toHaveLength(2)
})
