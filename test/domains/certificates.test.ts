import { expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { until } from '../support/until.ts'
import { anInternet, here } from './internet.ts'

const net = await anInternet()

test('a name that leads here gets a certificate, and leads to HTTPS from then on', async () => {
  net.zone['app.test'] = [here]
  net.add('app.test')
  await net.becomes('app.test', 'issued')
  const known = net.state('app.test')!
  expect(known).toMatchObject({ dnsFound: [here], dnsOk: true, errorMessage: null, failures: 0 })
  expect(known.issuer).toStartWith('Pebble Intermediate CA')
  expect(known.notAfter!.getTime()).toBeGreaterThan(Date.now())
  expect(net.orders).toEqual(['app.test'])
  await until(async () => (await net.get('http://app.test/x')).status === 308)
  expect(await (await net.get('https://app.test/')).text()).toBe('app')
})

test('a name that leads elsewhere is served without HTTPS, and never asked for', async () => {
  net.zone['away.test'] = ['192.5.5.241']
  net.add('away.test')
  await net.becomes('away.test', 'waiting')
  await until(() => net.state('away.test')!.errorMessage !== null)
  expect(net.state('away.test')).toMatchObject({
    ...{ dnsFound: ['192.5.5.241'], dnsOk: false, failures: 0 },
    errorMessage: 'away.test points to 192.5.5.241 instead of 127.0.0.1.',
  })
  await until(async () => (await net.get('http://away.test/')).status === 200)
  await expect(net.get('https://away.test/')).rejects.toThrow()
  expect(net.orders).not.toContain('away.test')
})

test('once it leads here, a check has it asked for', async () => {
  net.zone['away.test'] = [here]
  await net.keeper.check('away.test', net)
  expect(net.state('away.test')!.dnsOk).toBe(true)
  await net.becomes('away.test', 'issued')
  expect(net.orders.filter((name) => name === 'away.test').length).toBe(1)
})

test('a check during the one before, which found nothing yet, is not lost', async () => {
  const host = 'new.test'
  let checked: Promise<void> | undefined
  Object.defineProperty(net.zone, host, {
    configurable: true,
    get() {
      Object.defineProperty(net.zone, host, { value: [here] })
      checked = net.keeper.check(host, net)
      return undefined
    },
  })
  net.add(host)
  await net.becomes(host, 'issued')
  await checked
})

test('a restart in the middle neither loses nor repeats the order', async () => {
  net.zone['slow.test'] = [here]
  const release = net.holdOrders()
  net.add('slow.test')
  await until(() => net.orders.includes('slow.test'))
  expect(net.state('slow.test')).toMatchObject({ status: 'pending', failures: 1 })
  await net.restart({ between: release })
  await net.becomes('slow.test', 'issued')
  expect(net.orders.filter((name) => name === 'slow.test').length).toBe(1)
})

test('a challenge that fails is explained, and the permission taken back', async () => {
  net.zone['lost.test'] = [here]
  net.setFront('not found')
  net.add('lost.test')
  await net.becomes('lost.test', 'failed')
  net.setFront('pass')
  const { errorMessage, failures, nextTryAt } = net.state('lost.test')!
  expect(errorMessage).toStartWith(`${net.authorityName} got 404 from lost.test`)
  expect(failures).toBe(1)
  expect(Math.abs(nextTryAt!.getTime() - Date.now() - 60_000)).toBeLessThan(30_000)
  await until(() => !existsSync(join(net.folder, 'certificates/lost.test')))
  expect((await net.get('http://lost.test/')).status).toBe(200)
})

test.each([
  ['many.test', 5 * 3600_000],
  ['short.test', 40_000],
])('a limit of the authority is kept to, also by a check: %s', async (host, time) => {
  net.zone[host] = [here]
  const until = new Date(Date.now() + time).toISOString().slice(0, 19).replace('T', ' ')
  net.setLimit(`too many certificates, retry after ${until} UTC: see the rules`)
  net.add(host)
  await net.becomes(host, 'failed')
  net.setLimit(null)
  const { errorMessage, nextTryAt } = net.state(host)!
  expect(errorMessage).toContain('because its rate limit is reached: too many certificates')
  const end = new Date(nextTryAt!.getTime() - 60_000) // one failure delays by a minute
  expect(end.toISOString().slice(0, 19).replace('T', ' ')).toBe(until)
  await net.keeper.check(host, net)
  expect(net.state(host)!.nextTryAt).toEqual(nextTryAt)
})
