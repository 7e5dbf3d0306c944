import { afterAll, expect, test } from 'bun:test'
import { checkDns } from '../../src/domains/dns-check.ts'
import { lookUp } from '../../src/domains/dns.ts'
import { sslipName, publicAddresses } from '../../src/domains/public-address.ts'
import { aNameServer } from '../support/name-server.ts'

const here = '198.41.0.4'
const here6 = '2606:4700::5'
const elsewhere = '192.5.5.241'

const names = await aNameServer({
  'app.test': [here],
  'both.test': [here, here6],
  'www.test': { cname: 'shop.hoster.test' },
  'shop.hoster.test': { cname: 'app.test' },
  'mixed.test': [here, elsewhere],
  'away.test': [elsewhere],
  'inside.test': ['10.1.2.3'],
  'six.test': [here, '2606:4700:0:0:0:0:0:5'],
  'dangling.test': { cname: 'gone.test' },
  'loop.test': { cname: 'loop.test' },
  'broken.test': 'servfail',
  'silent.test': 'silent',
  'davit.test': [elsewhere],
  'crowd.test': Array.from({ length: 500 }, (_, at) => `192.5.${at >> 8}.${at & 255}`),
})
afterAll(() => names.stop())
const { signal } = new AbortController()
const nameServers = [names.address]

const check = (host: string, { expected = [here], own = [] as string[] } = {}) =>
  checkDns(host, { expected, own, nameServers, signal })

test('a name that leads here is right, also by a chain of other names', async () => {
  for (const host of ['app.test', 'www.test'])
    expect(await check(host)).toEqual({
      ...{ expected: [here], found: [here], ok: true, trouble: null, mayAsk: true },
    })
})

test('a name of the visitor’s own machine is in no DNS, and right', async () => {
  const right = { found: ['127.0.0.1'], ok: true, trouble: null, mayAsk: false }
  expect(await check('hello.davit.localhost')).toEqual({ expected: [here], ...right })
  expect(await check('notlocalhost')).toMatchObject({ ok: false })
})

test('each address counts, however it is written', async () => {
  expect(await check('both.test', { expected: [here, here6] })).toMatchObject({ ok: true })
  expect(await check('six.test', { expected: [here], own: [here6] })).toMatchObject({ ok: true })
  expect(await check('both.test')).toMatchObject({ ok: false, found: [here, here6] })
})

test('one wrong address among right ones is named', async () => {
  const { ok, mayAsk, trouble } = await check('mixed.test')
  expect({ ok, mayAsk }).toEqual({ ok: false, mayAsk: false })
  expect(trouble?.message).toBe(`mixed.test points to this server, but also to ${elsewhere}.`)
})

test('a name that leads elsewhere says where, and which record to make', async () => {
  const { ok, found, trouble } = await check('away.test')
  expect({ ok, found }).toEqual({ ok: false, found: [elsewhere] })
  expect(trouble?.message).toBe(`away.test points to ${elsewhere} instead of ${here}.`)
  expect(trouble?.hint).toContain(`an A record with the value ${here}`)
  expect(trouble?.hint).toContain('Cloudflare')
})

test('of thousands of addresses some are kept', async () => {
  const { ok, found } = await check('crowd.test')
  expect({ ok, count: found.length }).toEqual({ ok: false, count: 20 })
})

test('names without an address say that', async () => {
  for (const host of ['nothing.test', 'dangling.test'])
    expect(await check(host)).toMatchObject({
      ...{ ok: false, found: [], mayAsk: false },
      trouble: {
        message: `${host} has no address in the DNS.`,
        hint: `Add an A record with the value ${here} at your DNS provider.`,
      },
    })
})

test('a private address is wrong, unless it is what the setting says', async () => {
  expect((await check('inside.test')).trouble?.message).toContain(
    'can’t be reached from the internet',
  )
  expect(await check('inside.test', { expected: ['10.1.2.3'] })).toMatchObject({ ok: true })
})

test('name servers that fail are no missing names', async () => {
  for (const host of ['broken.test', 'loop.test'])
    expect((await check(host)).trouble?.message).toContain('respond with an error')
})

test('of a silent name server nothing is said but that', async () => {
  const given = await check('silent.test')
  expect(given).toMatchObject({ ok: null, found: [], mayAsk: false })
  expect(given.trouble?.message).toContain('didn’t respond in time')
})

test('looking up ends with its signal', async () => {
  const early = AbortSignal.abort(new Error('over'))
  await expect(lookUp('app.test', { nameServers, signal: early })).rejects.toThrow('over')
  const late = new AbortController()
  const looking = lookUp('silent.test', { nameServers, signal: late.signal })
  late.abort(new Error('over'))
  await expect(looking).rejects.toThrow('over')
})

test('without a public address nothing is called right or wrong', async () => {
  const given = await check('away.test', { expected: [] })
  expect(given).toMatchObject({ expected: [], found: [elsewhere], ok: null, mayAsk: true })
  expect(given.trouble?.hint).toContain('DAVIT_PUBLIC_ADDRESS')
  expect(await check('inside.test', { expected: [] })).toMatchObject({ ok: null, mayAsk: false })
})

test('the public address is the setting’s, this machine’s, or where Davit’s own name leads', async () => {
  const none = { publicAddresses: [], domain: null, url: null }
  const find = (config: Partial<Parameters<typeof publicAddresses>[0]['config']>, own: string[]) =>
    publicAddresses({ config: { ...none, ...config }, nameServers }, { own, signal })
  expect(await find({ publicAddresses: [here], domain: 'davit.test' }, [elsewhere])).toEqual([here])
  expect(await find({ domain: 'davit.test' }, [here6])).toEqual([here6])
  expect(await find({ domain: 'davit.test' }, [])).toEqual([elsewhere])
  expect(await find({ url: new URL('https://davit.test') }, [])).toEqual([elsewhere])
  expect(await find({ domain: 'inside.test' }, [])).toEqual([])
  expect(await find({ domain: 'nothing.test' }, [])).toEqual([])
})

test('a free name has the address in it, and no other numbers that could be one', () => {
  expect(sslipName('staging-shop', [here])).toBe('staging-shop.198-41-0-4.sslip.io')
  expect(sslipName('shop', [here6, here])).toBe('shop.198-41-0-4.sslip.io')
  expect(sslipName('shop', [here6])).toBe('shop.2606-4700--5.sslip.io')
  expect(sslipName('v-10-0-0-1', [here])).toBe('v-10001.198-41-0-4.sslip.io')
  expect(sslipName('shop', ['10.0.0.1'])).toBeNull()
  expect(sslipName('shop', [])).toBeNull()
})
