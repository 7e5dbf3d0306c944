import { afterAll, afterEach, describe, expect, spyOn, test } from 'bun:test'
import { clientAddress } from '../../src/web/client-address.ts'
import { factory } from '../../src/web/factory.ts'
import { answerError } from '../../src/web/failures.tsx'
import { rateLimit } from '../../src/web/rate-limit.ts'

let now = 0
const clock = spyOn(performance, 'now').mockImplementation(() => now)

afterEach(() => {
  now = 0
})
afterAll(() => clock.mockRestore())

function limitedApp(limits: { rate: number; burst: number }) {
  const app = factory
    .createApp()
    .use(clientAddress([]), rateLimit(limits))
    .get('/', (c) => c.text('fine'))
  app.onError(answerError)
  return async (address: string, headers: Record<string, string> = {}) =>
    app.request(
      '/',
      { headers: { Accept: 'application/json', ...headers } },
      { server: { requestIP: () => ({ address }) } },
    )
}

const limits = { rate: 30, burst: 60 }

describe('the rate limit', () => {
  test('lets 360 of 1,000 requests pass in 10 s, and every one of a quiet client', async () => {
    const ask = limitedApp(limits)
    const loud: number[] = []
    const quiet: number[] = []
    for (let i = 0; i < 1000; i++) {
      now = i * 10
      loud.push((await ask('198.51.100.1')).status)
      if (i % 100 === 0) quiet.push((await ask('198.51.100.2')).status)
    }
    expect(loud.filter((status) => status === 200).length).toBeWithin(355, 361)
    expect(quiet.every((status) => status === 200)).toBe(true)
  })

  test('lets the burst pass at once, then says when to come again', async () => {
    const ask = limitedApp({ rate: 1, burst: 3 })
    const statuses = []
    for (let i = 0; i < 3; i++) statuses.push((await ask('198.51.100.1')).status)
    const refused = await ask('198.51.100.1')
    expect([...statuses, refused.status]).toEqual([200, 200, 200, 429])
    expect(refused.headers.get('Retry-After')).toBe('1')
    expect(refused.headers.get('Content-Type')).toBe('application/problem+json')
    now = 1000
    expect((await ask('198.51.100.1')).status).toBe(200)
    expect((await ask('198.51.100.1')).status).toBe(429)
  })

  test('is not escaped by asking on while refused, nor prolonged', async () => {
    const ask = limitedApp({ rate: 1, burst: 1 })
    await ask('198.51.100.1')
    for (now = 100; now < 1000; now += 100) expect((await ask('198.51.100.1')).status).toBe(429)
    now = 1001
    expect((await ask('198.51.100.1')).status).toBe(200)
  })

  test('is not escaped by a forged header or another address of the same IPv6 subscriber', async () => {
    const ask = limitedApp({ rate: 1, burst: 1 })
    await ask('198.51.100.1')
    expect((await ask('198.51.100.1', { 'X-Forwarded-For': '203.0.113.1' })).status).toBe(429)
    await ask('2001:db8:0:1::1')
    expect((await ask('2001:db8:0:1:ffff::2')).status).toBe(429)
    expect((await ask('2001:db8:0:2::1')).status).toBe(200)
  })

  test('gives a client that was forgotten no more than its burst', async () => {
    const ask = limitedApp({ rate: 1, burst: 2 })
    await ask('198.51.100.1')
    now = 60_000
    await ask('198.51.100.2')
    const statuses = []
    for (let i = 0; i < 3; i++) statuses.push((await ask('198.51.100.1')).status)
    expect(statuses).toEqual([200, 200, 429])
  })

  test('costs the same with 10,000 clients as with one', async () => {
    const clients = Array.from(
      { length: 10_000 },
      (_, i) => `10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`,
    )
    const [few, many] = [limitedApp(limits), limitedApp(limits)]
    for (const client of clients) await many(client)
    const costs = { few: Infinity, many: Infinity }
    for (let round = 0; round < 5; round++)
      for (const [name, ask] of Object.entries({ few, many })) {
        const begun = process.cpuUsage()
        for (let i = 0; i < 1000; i++) await ask('198.51.100.1')
        const { user, system } = process.cpuUsage(begun)
        costs[name as keyof typeof costs] = Math.min(
          costs[name as keyof typeof costs],
          user + system,
        )
      }
    expect(costs.many).toBeLessThan(4 * costs.few) // to walk through all would be a hundred times
  })
})
