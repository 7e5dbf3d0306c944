import { describe, expect, test } from 'bun:test'
import { listDomains } from '../../src/addresses/store.ts'
import { certificates } from '../../src/db/schema.ts'
import { insertDeployment } from '../../src/deployments/store.ts'
import { noAddress } from '../../src/domains/dns-check.ts'
import { hostInWords } from '../../src/domains/domain-row.tsx'
import { Failure } from '../../src/platform/errors.ts'
import { anEnvironment } from '../logs/collecting.ts'
import { testApp } from '../support/app.ts'
import { anIssuer } from './issuer.ts'

const day = 86_400_000

/** An environment of a Davit whose Caddy serves, as its pages see it; what is known of hosts is given. */
async function aSite(env: Record<string, string> = {}, edge: object = {}) {
  const t = testApp({ DAVIT_PUBLIC_ADDRESS: '203.0.113.7', ...env }, { config: { edge: 'auto' } })
  for (const [name, value] of Object.entries({ isOn: true, ...edge }))
    Object.defineProperty(t.edge, name, { get: () => value })
  t.edge.sync = async () => {} // no Caddy is asked
  const ada = t.logIn('ada@example.com')
  const { id, path: overview } = await anEnvironment(t, ada)
  const path = `/envs/${id}/domains`
  const page = async (of = path) => readable((await ada.page(of)).text)
  return {
    ...{ t, ada, id, path, overview, page },
    add: async (host: string, more: object = {}) =>
      (await ada.post(path, { host, ...more })).json.id as string,
    know: (host: string, values: Partial<typeof certificates.$inferInsert>) =>
      t.db
        .insert(certificates)
        .values({ host, checkedAt: new Date(), ...values })
        .run(),
    row: async (host: string) => {
      const { text } = await ada.page(path)
      const rows = text.split('<li class="row domain-row"').slice(1)
      return readable(rows.find((row) => row.includes(host))!.split(/<\/form><\/div>/)[0]!)
    },
  }
}

/** What a person reads of a page. */
const readable = (html: string) =>
  html
    .replace(/<(svg|script|style|select).*?<\/\1>/gs, ' ')
    .replace(/<[^>]+>/g, ' ')
    .replace(/\s+/g, ' ')
    .replaceAll(' ,', ',')

const right = { dnsFound: ['203.0.113.7'], dnsOk: true }
const issuer = 'Let’s Encrypt'

describe('an address', () => {
  test('without a record in the DNS shows which one to create, to be copied', async () => {
    const { ada, add, know, path, page } = await aSite()
    await add('app.example.com')
    know('app.example.com', { dnsOk: false })
    const text = await page()
    expect(text).toContain('Waiting for DNS')
    expect(text).toContain(noAddress('app.example.com'))
    expect(text).toContain('A app.example.com → 203.0.113.7')
    expect((await ada.page(path)).text).toContain('data-copy="203.0.113.7"')
  })

  test('that leads elsewhere says where, and what if that is a proxy', async () => {
    const { add, know, page } = await aSite()
    await add('app.example.com')
    know('app.example.com', { dnsOk: false, dnsFound: ['198.51.100.9'] })
    const text = await page()
    expect(text).toContain('Wrong DNS')
    expect(text).toContain('points to 198.51.100.9 instead of 203.0.113.7.')
    expect(text).toContain('If 198.51.100.9 is a proxy such as Cloudflare')
  })

  test('shows how far its certificate is, from the first look to its end', async () => {
    const { t, add, know, page } = await aSite()
    await add('app.example.com')
    expect(await page()).toContain('Checking')
    know('app.example.com', { ...right, status: 'pending' })
    expect(await page()).toContain('Issuing app.example.com')
    const set = (values: Partial<typeof certificates.$inferInsert>) =>
      t.db.update(certificates).set(values).run()
    const errorMessage =
      'Let’s Encrypt got 404 from 203.0.113.7: the name points to another server.'
    set({
      ...{ status: 'failed', errorMessage, errorHint: 'Look at it.' },
      nextTryAt: new Date(Date.now() + 305_000),
    })
    const failed = await page()
    for (const told of ['HTTPS failed', errorMessage, 'Look at it.', 'next try in 5 min'])
      expect(failed).toContain(told)
    const ends = (days: number) => new Date(Date.now() + (days + 0.5) * day)
    const none = { errorMessage: null, errorHint: null, nextTryAt: null }
    set({ ...none, status: 'issued', issuer, notAfter: ends(80) })
    expect(await page()).toContain('HTTPS by Let’s Encrypt, ends in 80 days')
    expect(await page()).toContain('Ready')
    set({ notAfter: ends(9), errorMessage: 'The certificate wasn’t renewed.' })
    expect(await page()).toContain('Expires soon')
    expect(await page()).toContain('The certificate wasn’t renewed.')
  })

  test('says what browsers will say of an uploaded certificate, wherever the name leads', async () => {
    const { t, add, know, page } = await aSite()
    const { certificate, key } = await anIssuer().issue({ names: ['a.test'] })
    await add('a.test', { https: 'own', certificate, key })
    know('a.test', right)
    for (const told of ['Browser warning', 'It is self-signed'])
      expect(await page()).toContain(told)
    t.db
      .update(certificates)
      .set({ dnsFound: ['192.0.2.1'], dnsOk: false })
      .run()
    for (const told of ['Wrong DNS', 'It is self-signed']) expect(await page()).toContain(told)
  })

  test('shows a hostile header as text', async () => {
    const { ada, add } = await aSite()
    const value = '"></textarea><script>alert(1)</script>'
    const id = await add('app.example.com', { headers: { 'X-Evil': value } })
    const { text } = await ada.page(`/domains/${id}`)
    expect(text).not.toContain('<script>alert')
    expect(text).toContain('X-Evil: &quot;&gt;&lt;/textarea&gt;')
  })

  test('is put into maintenance and out of it by one button, and keeps its options', async () => {
    const { t, ada, id, add, know, path, page } = await aSite()
    const domain = await add('app.example.com', { maxBody: 5 })
    know('app.example.com', { ...right, status: 'issued' })
    const put = (maintenance: string) =>
      ada.form(`/domains/${domain}`, { _method: 'PUT', maintenance })
    expect((await put('1')).headers.get('Location')).toBe(path)
    expect(await page()).toContain('End maintenance')
    await put('0')
    expect(await page()).toContain('Start maintenance')
    expect(listDomains(t.db, { environmentId: id })[0]).toMatchObject({ maxBody: 5 })
  })

  test('in maintenance says so once, also beside another state', async () => {
    const { add, know, row } = await aSite()
    for (const host of ['app.example.com', 'new.example.com'])
      await add(host, { maintenance: true })
    know('app.example.com', { ...right, status: 'issued' })
    know('new.example.com', { dnsOk: false })
    expect((await row('app.example.com')).match(/maintenance/gi)).toHaveLength(2) // and the button
    expect(await row('new.example.com')).toMatch(/Waiting for DNS.*in maintenance/)
  })

  test('of the name alone offers to redirect www to it, until that is there', async () => {
    const { ada, add, path, page } = await aSite()
    await add('example.com')
    await add('app.example.com')
    const { text } = await ada.page(path)
    expect(text).toContain('Redirect www.example.com here')
    expect(text).not.toContain('Redirect www.app.example.com')
    expect(text).toContain('name="redirect_to" value="https://example.com"')
    await add('www.example.com', { redirectTo: 'https://example.com' })
    expect(await page()).not.toContain('Redirect www.example.com here')
    expect(await page()).toContain('redirects to https://example.com')
  })

  test('with an international name shows it as people write it, beside the true one', async () => {
    const { add, page } = await aSite()
    await add('bücher.example')
    expect(await page()).toMatch(/xn--bcher-kva\.example .*\( bücher\.example \)/)
  })
})

test('an international name is shown only where it can’t be taken for another', () => {
  expect(hostInWords('xn--bcher-kva.example')).toBe('bücher.example')
  expect(hostInWords('xn--80ak6aa92e.com')).not.toBeNull() // all Cyrillic, beside its true name
  expect(hostInWords('xn--pypal-4ve.com')).toBeNull() // a Cyrillic letter among Latin ones
  expect(hostInWords('app.example.com')).toBeNull()
})

describe('without a domain', () => {
  test('the page says what to do first', async () => {
    const { page } = await aSite()
    const text = await page()
    expect(text).toContain('No domain yet')
    expect(text).toContain('A app.example.com → 203.0.113.7')
  })

  test('a free name is one press away where the address is public', async () => {
    const { ada, path, page } = await aSite({ DAVIT_PUBLIC_ADDRESS: '8.8.4.4' })
    const { text } = await ada.page(path)
    expect(readable(text)).toContain('Use a free name')
    const host = /name="host" value="([^"]+)"/.exec(text)![1]!
    expect(host).toEndWith('.8-8-4-4.sslip.io')
    expect((await ada.form(path, { host })).status).toBe(303)
    expect(await page()).not.toContain('Use a free name')
  })

  test('the name under DAVIT_DOMAIN is added automatically, and can’t be deleted', async () => {
    const { ada, path, page } = await aSite({ DAVIT_DOMAIN: 'apps.example.org' })
    const text = await page()
    expect(text).toMatch(/\.apps\.example\.org .*added automatically/)
    expect(text).toContain('No custom domain yet')
    expect((await ada.page(path)).text).not.toContain('value="DELETE"')
  })
})

describe('where no names are served', () => {
  const off = new Failure(
    'edge_direct',
    'Domains and HTTPS are off, because something on this server listens on port 80.',
    'Stop it, and Davit starts Caddy by itself.',
  )

  test('the page and the overview say why and what to do, and link to no name', async () => {
    const { ada, add, overview, path } = await aSite({}, { isOn: false, trouble: off })
    await add('app.example.com')
    for (const page of [path, overview]) {
      const { text } = await ada.page(page)
      expect(readable(text)).toContain(off.message)
      expect(readable(text)).toContain(off.hint)
      expect(text).not.toContain('href="http://app.example.com"')
    }
  })

  test('one host that is left out is named, and the others are well', async () => {
    const failure = new Failure('edge_refused', 'Caddy refused it.', 'Edit it.')
    const rejected = [{ host: 'bad.example.com', failure }]
    const { add, know, row } = await aSite({}, { rejected, trouble: failure })
    for (const host of ['bad.example.com', 'good.example.com']) {
      await add(host)
      know(host, { ...right, status: 'issued' })
    }
    expect(await row('bad.example.com')).toContain('Not served')
    expect(await row('good.example.com')).toContain('Ready')
  })
})

test('the overview lists all addresses, and what keeps one from being used', async () => {
  const { add, know, overview, page } = await aSite()
  await add('app.example.com')
  await add('new.example.com')
  know('app.example.com', { ...right, status: 'issued' })
  know('new.example.com', { dnsOk: false })
  const text = await page(overview)
  expect(text).toMatch(/Addresses app\.example\.com .* new\.example\.com .* Waiting for DNS/)
})

test('fifty domains are one page', async () => {
  const { add, ada, path } = await aSite()
  for (let i = 0; i < 50; i++) await add(`${'long-'.repeat(10)}${i}.example.com`)
  const { text } = await ada.page(path)
  expect(text.match(/<li class="row domain-row"/g)).toHaveLength(50)
})

test('the form asks for a target only where there is a choice', async () => {
  const { ada, path, page } = await aSite()
  const compose = 'services: { web: { image: busybox, ports: ["8080"] } }'
  const { json } = await ada.post('/services/compose', { name: 'web', compose })
  expect(await page(`/services/${json.id}/domains/new`)).toContain(
    'Path, target, protocol and redirect',
  )
  expect(await page(`${path}/new`)).toContain('Path, protocol and redirect')
})

test('the page of variables has the address that apps get, before its certificate is there', async () => {
  const { t, ada, id, add, overview } = await aSite()
  await add('app.example.com')
  const url = 'http://app.example.com' // where it was reached when it was deployed
  insertDeployment(t.db, {
    ...{ id: Bun.randomUUIDv7(), projectId: overview.split('/')[2]!, environmentId: id },
    ...{ status: 'running', trigger: 'manual', triggeredBy: 'ada@example.com' },
    ...{ repositoryUrl: 'https://git.example.com/team/site.git', url },
  })
  const { text } = await ada.page(`/envs/${id}/variables`)
  expect(readable(text)).toContain('DAVIT_APP_URL https://app.example.com')
})

test('a service has the same page, with what each address leads to', async () => {
  const { ada } = await aSite()
  const compose = 'services:\n  web:\n    image: busybox\n    ports: ["8080"]\n'
  const { json } = await ada.post('/services/compose', { name: 'wiki', compose })
  const path = `/services/${json.id}/domains`
  await ada.post(path, { host: 'wiki.example.com' })
  expect(readable((await ada.page(path)).text)).toContain('points to web:8080')
  expect((await ada.page(`${path}/new`)).text).toContain('name="target"')
  expect((await ada.page(`/services/${json.id}`)).text).toContain(`href="${path}"`)
})
