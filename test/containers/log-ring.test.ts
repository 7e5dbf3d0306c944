import { expect, test } from 'bun:test'
import { LogRing } from '../../src/containers/log-ring.ts'
import { resync } from '../../src/live/hub.ts'

const item = (name: number) => ({ name, size: 10 })

const ring = () => new LogRing<ReturnType<typeof item>>({ size: 50, ahead: 3 })

test('readers get the items from their number on, and wait for more', async () => {
  const items = ring()
  const { signal } = new AbortController()
  items.push(item(1))
  const late = items.from(items.next, signal)
  const reader = items.from(0, signal)
  expect((await reader.next()).value).toEqual(item(1))
  const next = [reader.next(), late.next()]
  items.push(item(2))
  for (const { value } of await Promise.all(next)) expect(value).toEqual(item(2))
  items.close()
  expect((await reader.next()).done).toBe(true)
})

test('only the newest items are kept, and who wants older ones is told', async () => {
  const items = ring()
  for (let name = 0; name < 100; name++) items.push(item(name))
  const reader = items.from(0, new AbortController().signal)
  expect((await reader.next()).value).toBe(resync)
  expect((await reader.next()).done).toBe(true)
  expect([...items.backwards()].map(([, { name }]) => name)).toEqual([99, 98, 97, 96, 95])
})

test('the writer waits for the fastest reader, whatever the others do', async () => {
  const items = ring()
  const { signal } = new AbortController()
  const [fast] = [items.from(0, signal), items.from(0, signal)]
  for (let name = 0; name < 3; name++) items.push(item(name))
  let isFree = false
  const room = items.room(signal).then(() => (isFree = true))
  await Bun.sleep(5)
  expect(isFree).toBe(false)
  await fast!.next()
  await room
  expect(isFree).toBe(true)
})

test('a signal ends who reads and who waits to write', async () => {
  const items = ring()
  const stop = new AbortController()
  const reading = items.from(0, stop.signal).next()
  stop.abort()
  expect((await reading).done).toBe(true)
  for (let name = 0; name < 3; name++) items.push(item(name))
  await items.room(stop.signal)
})
