import { expect, test } from 'bun:test'
import type { Line } from '../../src/containers/log-line.ts'
import { noMask } from '../../src/logs/mask.ts'
import { Numbering } from '../../src/containers/log-line.ts'
import { LogOrder, LogPlace } from '../../src/containers/log-place.ts'

const second = '2026-11-20T03:00:00'

/** A line at that nanosecond of the second, as the engine tells it. */
const told = (nanoseconds: number, stream: 'stdout' | 'stderr' = 'stdout') => ({
  stream,
  timestamp: `${second}.${String(nanoseconds).padStart(9, '0')}Z`,
  text: String(nanoseconds),
})

function lines(...sent: ReturnType<typeof told>[]) {
  const numbering = new Numbering()
  return sent.map((line) => numbering.number(line, noMask))
}

const ids = (lines: Line[]) => lines.map(({ id }) => id.slice(second.length))

test('lines of one moment are distinguished, in both outputs', () => {
  const sent = [told(5), told(5), told(5, 'stderr'), told(6), told(5, 'stderr')]
  expect(ids(lines(...sent))).toEqual([
    '.000000005Z',
    '.000000005Z/2',
    '.000000005Z/3',
    '.000000006Z',
    '.000000005Z/4',
  ])
})

test('behind a line are those after it in the file, older ones of the other output too', () => {
  const sent = lines(told(10), told(30), told(20, 'stderr'), told(40))
  const place = new LogPlace(sent[1]!.id)
  expect(place.take(sent)).toEqual(sent.slice(2))
  expect(place.missed).toBe(false)
  expect(place.take(sent)).toEqual(sent)
})

test('behind a line that is gone are the later ones, and it is known that some may be missing', () => {
  const place = new LogPlace(`${second}.000000025Z`)
  const [older, later, latest] = lines(told(10), told(40), told(900_000_000))
  expect(place.take([older!, later!])).toEqual([])
  expect(place.take([latest!])).toEqual([later!, latest!])
  expect([place.passed, place.missed]).toEqual([true, true])

  const last = new LogPlace(`${second}.000000025Z`)
  expect([last.take([older!, later!]), last.end(), last.missed]).toEqual([[], [later!], true])
})

test('an id later than all lines is no place, and hides none that come', () => {
  const place = new LogPlace('2099-01-01T00:00:00.000000000Z')
  expect([place.take(lines(told(1), told(2))), place.end()]).toEqual([[], []])
  expect([place.passed, place.missed]).toEqual([false, false])
})

test('what the engine tells again is left out', () => {
  const order = new LogOrder()
  const sent = lines(told(1), told(2), told(3), told(1), told(2), told(3), told(4))
  expect(ids(sent.filter((line) => order.isNew(line)))).toEqual(
    ids([sent[0]!, sent[1]!, sent[2]!, sent[6]!]),
  )
})

test('pieces of one line and the slight disorder of two outputs are nothing told again', () => {
  const order = new LogOrder()
  const sent = lines(told(1), told(1), told(5), told(3, 'stderr'), told(3, 'stderr'), told(6))
  expect(sent.every((line) => order.isNew(line))).toBe(true)
})

test('a clock that was set back stops nothing', () => {
  const order = new LogOrder()
  const at = (time: number) => ({ ...told(0), timestamp: new Date(time).toISOString() })
  const sent = [at(Date.now() + 3_600_000), at(Date.now()), at(Date.now() + 1)]
  expect(lines(...sent).map((line) => order.isNew(line))).toEqual([true, true, true])
})
