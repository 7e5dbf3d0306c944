import { describe, expect, test } from 'bun:test'
import { domainForm, domainUpdateForm } from '../../src/domains/forms.ts'
import { anEnvironment } from '../logs/collecting.ts'
import { testApp, withAda } from '../support/app.ts'
import { contentsOf, expectRefusals } from '../support/refusals.ts'

const davit = { DAVIT_URL: 'https://panel.example.net', DAVIT_DOMAIN: 'apps.example.net' }

async function aSite(env: Record<string, string> = {}) {
  const { t, ada } = withAda(testApp(env, { jobsWait: true }))
  const environment = await anEnvironment(t, ada)
  const { id } = environment
  const path = `/envs/${id}/domains`
  const add = (fields: Record<string, unknown>) => ada.post(path, fields)
  return { t, ada, id, environment, path, add }
}

const account = (username: string) => ({ username, password: 'x' })

const wrong = {
  host: [
    ...['', 7, null, ['a.test'], 'a', 'localhost', 'app.localhost', 'localhost.'],
    ...['https://a.test', 'http://a.test/', 'ftp://a.test', '//a.test', 'a.test/x', 'a.test?x'],
    ...['a.test:443', '[::1]:80', '::1', '[::1]', '127.0.0.1', '127.1', '0x7f.1', '2130706433'],
    ...['0177.0.0.1', '１２７.０.０.１', '::ffff:127.0.0.1', 'fe80::1%eth0', '1.2.3.256', 'a.1'],
    ...['*.a.test', 'a.*.test', 'my_app.a.test', 'a..test', 'a.test..', '.a.test', '-a.test'],
    ...['a-.test', `${'a'.repeat(64)}.test`, `${'ü'.repeat(60)}.test`, `${'a.'.repeat(126)}test`],
    ...['xn--a.test', 'xn--.test', 'a b.test', 'ex%61mple.test', 'a.test%00', 'a\u0000.test'],
    ...['a\nb.test', 'user@a.test', 'a\\b.test', '$(id).test', '{file./etc/passwd}.test'],
    ...['panel.example.net', 'PANEL.example.net.', 'apps.example.net'],
  ],
  path: [
    ...[7, 'api', 'https://a.test', '/a?b', '/a#b', '/a/../b', '/..', '/.', '/a/.', '/./a'],
    ...[
      '/a\nb',
      '/a\u0000',
      '/a b',
      '/a*',
      '/%2e%2e',
      '/é',
      '/{file.x}',
      '/a\\b',
      `/${'a'.repeat(200)}`,
    ],
  ],
  redirectTo: [
    ...[7, 'b.test', '//b.test', 'javascript:alert(1)', 'ftp://b.test', 'https://', 'https:///x'],
    ...['https://a:b@b.test', 'https://b.test?x', 'https://b.test/#x', 'https://b.test:99999'],
    ...['https://b.test/\nX: y', 'mailto:a@b.test', 'https://a.test', 'HTTP://A.TEST./x'],
  ],
  https: ['on', 7, 'AUTO', ['auto']],
  basicAuth: [
    ...['ada', ':x', 'ada:x\nada:y', [{ username: 'ada' }], [{ username: 'a:b', password: 'x' }]],
    ...[['ada:x'], { ada: 'x' }, [{ password: 'x' }], [{ username: 'ada', password: '' }], 7],
    ...[[{ username: 'ada', password: 'x\ny' }], [{ username: 'ada', password: 'ü'.repeat(37) }]],
    ...[
      [{ username: 'ada', password: 7 }],
      Array.from({ length: 21 }, (_, at) => account(`a${at}`)),
    ],
  ],
  allowIps: [
    ...['b.test', '10.0.0.0/33', '10.0.0.0/8/8', '10.0.0/8', '010.0.0.1', '10.0.0.1-9', '*', 7],
    ...['::/129', 'fe80::1%eth0', '::ffff:10.0.0.1/104', '10.0.0.0/-1', [7], ['10.0.0.0/ 8']],
  ],
  headers: [
    ...['X-A', 'X A: b', ': b', 'X-A: b\nx-a: c', 'Connection: close', 'content-LENGTH: 1', 7],
    ...['Transfer-Encoding: chunked', 'Set-Cookie: a=b', 'Upgrade: x', 'X-Ä: b', 'X-A: ä'],
    ...[{ 'X-A': 'b\r\nSet-Cookie: c=d' }, { 'X-A\r\nX-B': 'c' }, { 'X-A': 7 }, { 'X-A': 'b\nc' }],
    ...[['X-A: b'], { 'X-A': '\u0000' }, { '': 'a' }, { 'X-A': 'b'.repeat(9000) }],
  ],
  maxBody: ['0', '10241', '-1', '1.5', 'many', 1.5, 0, 10_241],
  maintenance: ['maybe', 7],
  protocol: ['https', 'grpc', 'H2C', 2],
  hsts: ['maybe', 7],
  target: ['web:80'],
}

test('a domain that can’t be served is refused by its field, and nothing is stored', async () => {
  const { t, ada, path } = await aSite(davit)
  await expectRefusals(t, ada, {
    ...{ method: 'POST', path, valid: { host: 'a.test' }, wrong, schema: domainForm },
    notShown: ['basicAuth', 'target', 'maintenance', 'hsts', 'https', 'protocol'],
  })
}, 60_000)

test('nor is a change of one', async () => {
  const { t, ada, add } = await aSite(davit)
  const { id } = (await add({ host: 'a.test' })).json
  await expectRefusals(t, ada, {
    ...{ method: 'PUT', path: `/domains/${id}`, valid: {}, wrong, schema: domainUpdateForm },
    notShown: ['basicAuth', 'target', 'maintenance', 'hsts', 'https', 'protocol'],
  })
}, 60_000)

describe('what is typed is taken in one spelling:', () => {
  test.each([
    [{ host: 'BÜCHER.example。' }, { host: 'xn--bcher-kva.example' }],
    [
      { host: ' a.test ', path: '//a///b/' },
      { host: 'a.test', path: '/a/b' },
    ],
    [
      { redirectTo: 'HTTPS://Bücher.example:443/a/' },
      { redirectTo: 'https://xn--bcher-kva.example/a' },
    ],
    [{ allowIps: ['[2001:DB8::1]', '10.1.2.3/08'] }, { allowIps: ['2001:db8::1', '10.1.2.3/8'] }],
    [{ headers: { 'X-A': '  b ' } }, { headers: { 'X-A': 'b' } }],
  ])('%j is %j', async (asked, stored) => {
    const { add } = await aSite()
    expect((await add({ host: 'a.test', ...asked })).json).toMatchObject(stored)
  })
})

describe('a host is one owner’s,', () => {
  test('whoever has it, and no one learns whose it is', async () => {
    const { t, ada, environment, add } = await aSite()
    const bob = t.logIn('bob@example.com')
    const his = (await anEnvironment(t, bob)).id
    await bob.post(`/envs/${his}/domains`, { host: 'his.test', path: '/api' })
    const before = contentsOf(t)
    for (const host of ['his.test', 'HIS.test.'])
      for (const path of ['/', '/api', '/other']) {
        const { status, json } = await add({ host, path })
        expect(status).toBe(409)
        expect(json.errors).toMatchObject([{ field: 'host' }])
        expect(JSON.stringify(json)).not.toContain('bob')
      }
    const listed = await ada.put(environment.path, { domains: ['mine.test', 'his.test'] })
    expect(listed.status).toBe(409)
    expect(listed.json.errors).toMatchObject([{ field: 'domains' }])
    expect(contentsOf(t)).toEqual(before)
  })

  test('who has as many paths of it as they like, each once, and is told which app has one', async () => {
    const { t, ada, add } = await aSite()
    const other = await anEnvironment(t, ada)
    const { name } = (await ada.get(`/projects/${other.projectId}`)).json
    expect((await add({ host: 'a.test' })).status).toBe(201)
    const api = await ada.post(`/envs/${other.id}/domains`, { host: 'a.test', path: '/api' })
    expect(api.status).toBe(201)
    const twice = await add({ host: 'a.test', path: '/API/' })
    expect([twice.status, twice.json.errors]).toEqual([
      409,
      [{ field: 'host', message: expect.stringContaining(`${name} / `) }],
    ])
    expect((await ada.put(`/domains/${api.json.id}`, { path: '/' })).status).toBe(409)
    expect((await ada.put(`/domains/${api.json.id}`, { path: '/Api' })).status).toBe(200)
  })

  test('when two ask for it at once', async () => {
    const { t, add } = await aSite()
    const others = ['bob', 'eve', 'joe'].map((name) => t.logIn(`${name}@example.com`))
    const ids = await Promise.all(others.map(async (one) => (await anEnvironment(t, one)).id))
    const asked = { host: 'a.test', basicAuth: [account('x')] }
    const answers = await Promise.all([
      add(asked),
      ...others.map((one, at) =>
        one.post(`/envs/${ids[at]}/domains`, { ...asked, path: `/${at}` }),
      ),
    ])
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 409, 409, 409])
  })

  test('and the name under DAVIT_DOMAIN is that of its environment', async () => {
    const { t, ada, id, add } = await aSite(davit)
    const { json } = await ada.get(`/envs/${id}/domains`)
    expect(json.items).toEqual([])
    const label = t.db.$client.query('SELECT label FROM environments WHERE id = ?').get(id)
    const name = `${(label as { label: string }).label}.apps.example.net`
    const bob = t.logIn('bob@example.com')
    const his = (await anEnvironment(t, bob)).id
    expect((await bob.post(`/envs/${his}/domains`, { host: name })).status).toBe(409)
    expect((await add({ host: name, maintenance: true })).status).toBe(201)
  })
})

describe('redirects that would never end are refused:', () => {
  const circles: [string, { host: string; path?: string; redirectTo: string }[]][] = [
    ['to itself', [{ host: 'a.test', redirectTo: 'https://a.test' }]],
    ['to a path of itself', [{ host: 'a.test', redirectTo: 'http://a.test/blog' }]],
    [
      'by each other',
      [
        { host: 'a.test', redirectTo: 'https://b.test' },
        { host: 'b.test', redirectTo: 'https://a.test' },
      ],
    ],
    [
      'by three, one of which has it for a path only',
      [
        { host: 'a.test', redirectTo: 'https://b.test' },
        { host: 'b.test', path: '/api', redirectTo: 'https://c.test' },
        { host: 'c.test', redirectTo: 'https://a.test/' },
      ],
    ],
    [
      'for a path only, when the other is added later',
      [
        { host: 'b.test', path: '/api', redirectTo: 'https://a.test' },
        { host: 'a.test', redirectTo: 'https://b.test' },
      ],
    ],
  ]
  test.each(circles)('%s', async (_, all) => {
    const { add } = await aSite()
    for (const one of all.slice(0, -1)) expect((await add(one)).status).toBe(201)
    const { status, json } = await add(all.at(-1)!)
    expect(status).toBe(422)
    expect(json.errors).toMatchObject([{ field: 'redirectTo' }])
  })

  test('more than a browser follows', async () => {
    const { add } = await aSite()
    const to = (at: number) => ({ host: `n${at}.test`, redirectTo: `https://n${at + 1}.test` })
    for (let at = 20; at > 1; at--) expect((await add(to(at))).status).toBe(201)
    expect((await add(to(1))).status).toBe(422)
  })

  test('but not for what others have set up', async () => {
    const { t, add } = await aSite()
    const bob = t.logIn('bob@example.com')
    const his = `/envs/${(await anEnvironment(t, bob)).id}/domains`
    await bob.post(his, { host: 'b.test', redirectTo: 'https://a.test' })
    expect((await add({ host: 'a.test', redirectTo: 'https://b.test' })).status).toBe(201)
  })

  test('but not those that end', async () => {
    const { ada, add } = await aSite()
    expect((await add({ host: 'a.test', path: '/blog' })).status).toBe(201)
    expect((await add({ host: 'a.test', redirectTo: 'https://a.test/blog' })).status).toBe(201)
    expect((await add({ host: 'b.test', redirectTo: 'http://b.test:8080' })).status).toBe(201)
    const www = await add({ host: 'www.c.test', redirectTo: 'https://c.test' })
    expect((await add({ host: 'c.test' })).status).toBe(201)
    expect((await ada.put(`/domains/${www.json.id}`, { host: 'c.test' })).status).toBe(409)
  })
})

test('a form’s name of a field is refused in JSON, where no one would be asked to log in', async () => {
  const { t, add } = await aSite()
  const { status, json } = await add({ host: 'a.test', basic_auth: [account('ada')] })
  expect(status).toBe(422)
  expect(json.errors).toEqual([
    { field: 'basicAuth', message: 'is the name in JSON, not basic_auth.' },
  ])
  expect(await t.db.query.domains.findMany()).toEqual([])
})
