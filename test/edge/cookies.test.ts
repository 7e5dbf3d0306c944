import { expect, test } from 'bun:test'
import { davitKey } from '../../src/edge/plan.ts'
import { aHost, anEdge } from './caddy.ts'

const edge = await anEdge()
const echo = edge.app(({ headers }) => new Response(headers.get('Cookie')))
for (const key of ['app', davitKey]) edge.slots(key, echo)
await edge.serve([aHost('app.test'), aHost('davit.test', { target: { slots: davitKey } })])

const passed = async (host: string, Cookie: string) =>
  (await edge.get(`http://${host}/`, { headers: { Cookie } })).text()
const long = 'x'.repeat(4000)

test.each([
  ['svc_session=a', 'svc_session=a'],
  ['a=1; svc_session=b; c=3', 'svc_session=b'],
  ['svc_csrf=a; svc_session=b', 'svc_csrf=a; svc_session=b'],
  ['svc_session=planted; svc_session=own', 'svc_session=planted; svc_session=own'],
  ['__Host-svc_session=a;__Host-svc_browser=b', '__Host-svc_session=a; __Host-svc_browser=b'],
  ['a=1;;  ;svc_theme=dark;=;b', 'svc_theme=dark'],
  ['a=svc_session=b; xsvc_session=c; svc_sessions=d; SVC_SESSION=e', ''],
  ['svc_next=a%3Bb.c=; svc_oauth="q"', 'svc_next=a%3Bb.c=; svc_oauth="q"'],
  [`svc_session=${long}; svc_next=${long}; svc_visitor=a`, 'svc_visitor=a'],
  [
    Array.from({ length: 15 }, (_, n) => `svc_${n}=${long}`).join('; ') + '; svc_csrf=a',
    'svc_csrf=a',
  ],
])('of the cookies %p Davit gets its own alone', async (sent, own) => {
  expect(await passed('davit.test', sent)).toBe(own)
})

test('an app gets all cookies', async () => {
  expect(await passed('app.test', 'a=1; svc_session=b;c=3')).toBe('a=1; svc_session=b;c=3')
})

test('each cookie that Davit sets is one of its own', async () => {
  const names = new Set<string>()
  for await (const path of new Bun.Glob('src/**/*.{ts,tsx}').scan())
    for (const [, name] of (await Bun.file(path).text()).matchAll(/'(svc_\w+)'/g)) names.add(name!)
  expect(names.size).toBeGreaterThan(5)
  for (const name of names) expect(await passed('davit.test', `a=b; ${name}=c`)).toBe(`${name}=c`)
})
