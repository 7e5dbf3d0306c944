import { describe, expect, test } from 'bun:test'
import { planOf } from '../../src/addresses/plan.ts'
import { anEnvironment } from '../logs/collecting.ts'
import { testApp } from '../support/app.ts'
import { contentsOf } from '../support/refusals.ts'
import type { TestClient } from '../support/client.ts'
import { anIssuer } from './issuer.ts'

const { issue } = anIssuer()

async function aSite(env: Record<string, string> = {}) {
  const t = testApp(env, { jobsWait: true })
  const [ada, bob] = [t.logIn('ada@example.com'), t.logIn('bob@example.com')]
  const add = await adding(ada)
  const addOfBob = await adding(bob)
  const served = () => planOf(t).hosts.map(({ name }) => name)
  return { t, ada, add, addOfBob, served, adding }

  async function adding(client: TestClient) {
    const { id } = await anEnvironment(t, client)
    return (fields: Record<string, unknown>) => client.post(`/envs/${id}/domains`, fields)
  }
}

/** What is uploaded with a domain. */
async function uploaded(host: string, ...others: Parameters<typeof issue>) {
  const { certificate, key } = await issue(...others)
  return { host, https: 'own', certificate, key }
}

const davit = { DAVIT_URL: 'https://panel.example.net', DAVIT_DOMAIN: 'apps.example.net' }

describe('a certificate, which Caddy shows for all names in it,', () => {
  test.each([
    { names: ['a.test', 'his.test'] },
    { names: ['a.test', '*.test'] },
    { names: ['a.test', '*.*'] },
    { names: ['a.test'], subject: '/O=Ada/CN=HIS.test' },
    { names: ['a.test', 'panel.example.net'] },
    { names: ['a.test', '*.example.net'] },
    { names: ['a.test', 'apps.example.net'] },
    { names: ['a.test', '*.apps.example.net'] },
    { names: ['a.test', 'soon.apps.example.net'] },
    { names: ['a.test', '*.com'] },
    { names: ['a.test', '*.*.org'] },
    { names: ['a.test'], subject: '/CN=*.org' },
    { names: ['a.test', 'URI:his.test'] },
  ])('is refused where they aren’t all its owner’s: %j', async ({ names, ...subject }) => {
    const { t, add, addOfBob } = await aSite(davit)
    await addOfBob({ host: 'his.test' })
    const before = contentsOf(t)
    const { status, json } = await add(
      await uploaded('a.test', { names: [...names], ...(subject as object) }),
    )
    expect(status).toBe(422)
    expect(json.errors).toMatchObject([{ field: 'certificate' }])
    expect(contentsOf(t)).toEqual(before)
  })

  test.each([
    { host: 'a.test', names: ['a.test', 'other.test'], strange: 'other.test' },
    { host: 'a.test', names: ['a.test', '*.other.test'], strange: '*.other.test' },
    { host: 'a.test', names: ['a.test', 'b.test', 'aa.test'], strange: 'aa.test' },
    { host: 'a.co.uk', names: ['a.co.uk', '*.co.uk'], strange: '*.co.uk' },
    {
      host: 'x.203-0-113-7.sslip.io',
      names: ['*.203-0-113-7.sslip.io'],
      strange: '*.203-0-113-7.sslip.io',
    },
  ])('can’t reserve names that its owner hasn’t: %j', async ({ host, names, strange }) => {
    const { t, add } = await aSite()
    await add({ host: 'b.test' })
    const before = contentsOf(t)
    const { status, json } = await add(await uploaded(host, { names: [...names] }))
    expect(status).toBe(422)
    const message = expect.stringContaining(
      `is also for ${strange}, which isn’t one of your domains`,
    )
    expect(json.errors).toMatchObject([{ field: 'certificate', message }])
    expect(contentsOf(t)).toEqual(before)
  })

  test('may be for an own name, names below it, and the one above with all of its own', async () => {
    const { add } = await aSite()
    await add({ host: 'b.test' })
    const names = ['shop.a.test', '*.a.test', 'a.test', 'x.y.shop.a.test', '*.b.test', 'b.test']
    const subject = '/CN=My certificate'
    expect((await add(await uploaded('shop.a.test', { names, subject }))).status).toBe(201)
  })

  test('can’t have more than a hundred names', async () => {
    const { add } = await aSite()
    const names = Array.from({ length: 101 }, (_, at) => `n${at}.a.test`)
    const asked = await uploaded('a.test', { names: ['a.test', ...names.slice(0, 99)] })
    expect((await add(asked)).status).toBe(201)
    const { json } = await add(await uploaded('b.test', { names: ['b.test', ...names] }))
    const message = 'has more than 100 names. Use one with fewer.'
    expect(json.errors).toEqual([{ field: 'certificate', message }])
  })

  test('may be for several of one owner, and for names below them that no one has', async () => {
    const { add, addOfBob, served } = await aSite(davit)
    await add({ host: 'b.test' })
    await addOfBob({ host: 'deep.a.test.his' })
    const names = ['a.test', 'b.test', '*.a.test', 'www.a.test']
    expect((await add(await uploaded('a.test', { names }))).status).toBe(201)
    expect(served()).toContain('a.test')
  })

  test('keeps others from having a name in it, while its owner may', async () => {
    const { ada, add, addOfBob, served } = await aSite()
    const names = ['a.test', '*.a.test']
    const { id } = (await add(await uploaded('a.test', { names }))).json
    const refused = await addOfBob({ host: 'www.a.test' })
    expect([refused.status, refused.json.errors[0].field]).toEqual([409, 'host'])
    expect((await add({ host: 'www.a.test' })).status).toBe(201)
    expect(served()).toEqual(['a.test', 'www.a.test'])
    await ada.put(`/domains/${id}`, { https: 'auto' })
    expect((await addOfBob({ host: 'api.a.test' })).status).toBe(201)
  })

  test('isn’t served any more once a setting has given Davit a name in it', async () => {
    const { t, ada, add, served } = await aSite()
    await add({ host: 'panel.test' })
    const { id } = (await add(await uploaded('a.test', { names: ['a.test', 'panel.test'] }))).json
    await add({ host: 'b.test' })
    expect(served()).toEqual(['panel.test', 'a.test', 'b.test'])
    Object.assign(t.config, { domain: 'panel.test' })
    expect(served()).not.toContain('a.test')
    expect(served()).toContain('b.test')
    const { error } = (await ada.get(`/domains/${id}`)).json
    expect(error).toMatchObject({ code: 'certificate_of_others' })
  })

  test('of an admin may be for all', async () => {
    const { t, adding, addOfBob, served } = await aSite(davit)
    await addOfBob({ host: 'his.test' })
    const addOfRoot = await adding(t.logInAsAdmin())
    const names = ['a.test', 'his.test', '*.apps.example.net']
    expect((await addOfRoot(await uploaded('a.test', { names }))).status).toBe(201)
    expect((await addOfBob({ host: 'x.apps.example.net' })).status).toBe(201)
    expect(served()).toContain('a.test')
  })
})
