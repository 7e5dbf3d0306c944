import { expect, test } from 'bun:test'
import { readAccessLine } from '../../src/edge/access-log.ts'
import { folderInside } from '../../src/edge/container.ts'
import { healthPath, homeSlot } from '../../src/edge/elsewhere.ts'
import { freePort } from '../support/free-port.ts'
import { until } from '../support/until.ts'
import { anApp, anOther, hostOf, signal } from './other.ts'

const other = await anOther()

test('a switch loses no request, however often, and takes only what the engine takes to write files', async () => {
  const [one, two] = ['one', 'two'].map((text) => anApp(() => new Response(text))) as [
    string,
    string,
  ]
  other.others.look({ mayServe: true })
  other.others.route('app-test', [one])
  await other.serve([hostOf('app.test')])
  expect(await (await other.get('app.test')).text()).toBe('one')
  let isOver = false
  const wrong: string[] = []
  let count = 0
  const visit = async (keepalive: boolean) => {
    while (!isOver) {
      const said = await other.get('app.test', '/', { keepalive }).then((r) => r.text(), String)
      if (said !== 'one' && said !== 'two') wrong.push(said)
      count++
    }
  }
  const visitors = [true, true, false].map(visit)
  const begun = performance.now()
  const switches = 20
  for (let n = 0; n < switches; n++) {
    other.others.route('app-test', n % 2 === 0 ? [two] : [one])
    await other.others.settled({ signal })
  }
  console.error(`${count} requests, ${(performance.now() - begun) / switches} ms a switch`)
  isOver = true
  await Promise.all(visitors)
  expect(wrong).toEqual([])
  expect(await (await other.get('app.test')).text()).toBe('one')
})

test('what it doesn’t reach itself goes through Davit’s own edge, which learns who the visitor is', async () => {
  other.others.route('far-test', null)
  await other.serve([hostOf('far.test')])
  const forged = { 'X-Forwarded-For': '6.6.6.6', 'Davit-Edge': 'guessed', 'X-Real-IP': '6.6.6.6' }
  const said = await (await other.get('far.test', '/path?query', { headers: forged })).json()
  expect(said).toMatchObject({
    host: 'far.test',
    url: 'http://far.test/path?query',
    'x-forwarded-for': '127.0.0.1',
    'x-forwarded-proto': 'http',
    'davit-edge': other.others.tokens.tokens![0],
  })
  const challenge = await other.get('any.test', '/.well-known/acme-challenge/abc')
  expect(await challenge.json()).toMatchObject({ host: 'any.test' })
})

test('no request reaches Davit’s own edge without saying who the visitor is, also while slots are replaced', async () => {
  const home = homeSlot(folderInside)
  const forged = { 'X-Forwarded-For': '6.6.6.6', 'X-Forwarded-Proto': 'https' }
  // not all slots are replaced yet; and all were, after they had been compared with another address
  for (const slots of [
    [anApp(() => Response.json({})), home],
    [home.replace('/home', '/./home')],
  ]) {
    other.others.route('far-test', slots as [string])
    await other.serve([hostOf('far.test')])
    await other.others.settled({ signal })
    for (let n = 0; n < 30; n++)
      expect(await (await other.get('far.test', '/', { headers: forged })).json()).toMatchObject({
        ...{ host: 'far.test', 'davit-edge': other.others.tokens.tokens![0] },
        ...{ 'x-forwarded-for': '127.0.0.1', 'x-forwarded-proto': 'http' },
      })
  }
})

test('what ended where the edge still looks for it is found by Davit’s own edge', async () => {
  await other.serve([hostOf('far.test')])
  other.others.route('far-test', [`127.0.0.1:${freePort()}`])
  await other.others.settled({ signal })
  const headers = { 'X-Forwarded-For': '6.6.6.6' }
  expect(await (await other.get('far.test', '/path?query', { headers })).json()).toMatchObject({
    ...{ url: 'http://far.test/path?query', 'x-forwarded-for': '127.0.0.1' },
    'davit-edge': other.others.tokens.tokens![0],
  })
  // it could have been done twice
  expect((await other.get('far.test', '/', { method: 'POST', body: 'a' })).status).toBe(502)
})

test('who checks its health learns first that visitors are to leave; then it goes, with all that it had', async () => {
  const health = async () => (await other.get('x.test', healthPath)).status
  other.others.route('app-test', [anApp(() => new Response('app'))])
  await other.serve([hostOf('app.test')])
  expect(await health()).toBe(200)
  other.server.isServing = false
  other.others.look({ mayServe: true })
  expect(other.others.isOn).toBe(true)
  await other.others.settled({ signal })
  expect(await health()).toBe(503)
  expect((await other.get('app.test')).status).toBe(200)
  // as the edge's own look does every few seconds
  await until(async () => {
    await other.others.settled({ signal })
    return (await other.containers()).length === 0
  })
  expect(await other.docker.listVolumes({ labels: other.labels })).toEqual([])
  other.others.look({ mayServe: true })
  expect(other.others.isOn).toBe(false)
  other.server.isServing = true
  expect(other.others.look({ mayServe: true })).toBe(true)
  other.others.route('app-test', [anApp(() => new Response('app'))])
  await other.serve([hostOf('app.test')])
})

test('one that was ended for a server that leaves isn’t begun again meanwhile', async () => {
  other.others.look({ mayServe: true })
  {
    using _ended = await other.others.end(other.server.id, { signal })
    expect(await other.containers()).toEqual([])
    other.others.look({ mayServe: true })
    await other.others.settled({ signal })
    expect(await other.containers()).toEqual([])
  }
  other.others.look({ mayServe: true })
  await other.others.settled({ signal })
  expect(await other.containers()).toHaveLength(1)
})

test('its requests are counted, and those that Davit’s own edge counts are not', async () => {
  other.others.route('app-test', [anApp(() => new Response('app'))])
  other.others.route('far-test', null)
  await other.serve([hostOf('app.test'), hostOf('far.test')])
  other.others.takeLines()
  await other.get('far.test')
  await other.get('app.test', '/counted')
  const lines: string[] = []
  await until(() => {
    lines.push(...(other.others.takeLines().get(other.server.id) ?? []))
    return lines.some((line) => line.includes('/counted'))
  })
  const counted = lines.map((line) => readAccessLine(line)!)
  expect(new Set(counted.map(({ key }) => key))).toEqual(new Set(['app.test']))
  expect(counted.at(-1)).toMatchObject({ path: '/counted', status: 200, client: '127.0.0.1' })
})
