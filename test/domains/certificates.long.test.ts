import { expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { until } from '../support/until.ts'
import { anInternet, here } from './internet.ts'

/** Seconds; Caddy renews at a third. */
const validity = 45

const net = await anInternet({ validity, blocked: ['blocked.test'] })
const serves = async (host: string) => (await net.get(`https://${host}/`)).ok

test('a certificate is renewed before it ends, while it is served', async () => {
  net.zone['app.test'] = [here]
  net.add('app.test')
  await net.becomes('app.test', 'issued')
  const first = net.state('app.test')!.notAfter!
  await until(async () => {
    expect(await serves('app.test')).toBe(true)
    return net.state('app.test')!.notAfter! > first
  }, 90)
  expect(net.state('app.test')).toMatchObject({ status: 'issued', errorMessage: null })
})

test('one that can’t be renewed says so before it ends, and is served until then', async () => {
  net.zone['late.test'] = [here]
  net.add('late.test')
  await net.becomes('late.test', 'issued')
  net.setFront('not found')
  const says = () => net.state('late.test')!.errorMessage ?? ''
  await until(() => says().includes('wasn’t renewed') && says().includes('got 404'), 90)
  expect(await serves('late.test')).toBe(true)
  expect(existsSync(join(net.folder, 'certificates/late.test'))).toBe(true)
  net.setFront('pass')
})

test('what failed is asked for again at a check, once the cause is gone', async () => {
  net.zone['shut.test'] = [here]
  net.setFront('not found')
  net.add('shut.test')
  await net.becomes('shut.test', 'failed')
  net.setFront('pass')
  await net.keeper.check('shut.test', net)
  await net.becomes('shut.test', 'issued', 100) // Caddy tries again after a minute, not before
  expect(net.state('shut.test')).toMatchObject({ failures: 0, errorMessage: null })
})

test('a name that the authority refuses is explained', async () => {
  net.zone['blocked.test'] = [here]
  net.add('blocked.test')
  await net.becomes('blocked.test', 'failed')
  const { errorMessage, errorHint } = net.state('blocked.test')!
  expect(errorMessage).toMatch(new RegExp(`^${net.authorityName} .* blocked\\.test`))
  expect(errorHint).toBeString()
})

test('twenty names at once are all issued, whatever the order', async () => {
  const hosts = Array.from({ length: 20 }, (_, at) => `n${at}.test`)
  for (const host of hosts) net.zone[host] = [here]
  net.add(...hosts)
  await until(() => hosts.every((host) => net.state(host)?.status === 'issued'), 90)
  expect(new Set(net.orders.filter((name) => hosts.includes(name))).size).toBe(20)
})
