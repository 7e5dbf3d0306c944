import { expect, test } from 'bun:test'
import { planOf } from '../../src/addresses/plan.ts'
import { testApp } from '../support/app.ts'

const hostsOf = (env: Record<string, string>) =>
  planOf(testApp(env).deps).hosts.map(({ name, https }) => [name, https.kind])

test('Davit has a name at the edge as soon as Caddy runs, and is no reason for it to run', () => {
  const DAVIT_URL = 'https://davit.example.com'
  expect(hostsOf({ DAVIT_EDGE: 'auto', DAVIT_URL })).toEqual([])
  const named = [['davit.example.com', 'auto']]
  expect(hostsOf({ DAVIT_EDGE: 'caddy', DAVIT_URL })).toEqual(named)
  expect(hostsOf({ DAVIT_EDGE: 'auto', DAVIT_URL, DAVIT_DOMAIN: 'example.com' })).toEqual(named)
  const alone = hostsOf({ DAVIT_EDGE: 'auto', DAVIT_DOMAIN: 'example.com' })
  expect(alone).toEqual([['example.com', 'auto']])
  expect(hostsOf({ DAVIT_EDGE: 'caddy', DAVIT_URL: 'https://davit.example.com:8443' })).toEqual([])
})

test('the edge trusts the proxies that Davit trusts', () => {
  const { deps } = testApp({ DAVIT_TRUSTED_PROXIES: '10.0.0.0/8' })
  expect(planOf(deps).trustedProxies).toEqual(['10.0.0.0/8'])
})
