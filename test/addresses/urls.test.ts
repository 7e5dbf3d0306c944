import { expect, test } from 'bun:test'
import { namedUrl } from '../../src/addresses/urls.ts'
import { certificates } from '../../src/db/schema.ts'
import { anEnvironment } from '../logs/collecting.ts'
import { testApp, withAda } from '../support/app.ts'

test('a domain that isn’t in the DNS is an app’s address only where it has no other', async () => {
  const { t, ada } = withAda(testApp({ DAVIT_DOMAIN: 'example.com' }, { jobsWait: true }))
  const { id } = await anEnvironment(t, ada)
  const add = (fields: Record<string, unknown>) => ada.post(`/envs/${id}/domains`, fields)
  const known = (host: string, dnsFound: string[]) =>
    t.db
      .insert(certificates)
      .values({ host, dnsFound, dnsOk: false })
      .onConflictDoUpdate({ target: certificates.host, set: { dnsFound } })
      .run()
  const deps = { ...t, edge: { isOn: true } }
  const url = (label: string | null = 'shop', isIntended = false) =>
    namedUrl(deps, { holder: { environmentId: id }, label, isIntended })

  expect(url()).toBe('http://shop.example.com')
  await add({ host: 'www.a.test', redirectTo: 'https://a.test' })
  await add({ host: 'a.test' })
  expect(url()).toBe('http://a.test') // not looked up yet
  known('a.test', [])
  expect(url()).toBe('http://shop.example.com')
  expect(url('shop', true)).toBe('https://a.test')
  expect(url(null)).toBe('http://a.test')
  await add({ host: 'b.test', path: '/shop' })
  expect(url()).toBe('http://b.test/shop')
  known('a.test', ['192.5.5.241']) // perhaps a proxy's
  expect(url()).toBe('http://a.test')
})
