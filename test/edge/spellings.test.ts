import { expect, test } from 'bun:test'
import { aHost, anEdge } from './caddy.ts'

const edge = await anEdge()
edge.slots(
  'app',
  edge.app(() => new Response()),
)
const hash = await Bun.password.hash('sesame', { algorithm: 'bcrypt', cost: 4 })
const accounts = [{ username: 'ada', hash }]
const allow = ['203.0.113.0/24']
const target = { slots: 'app' }
const site = (path: string, options = {}) => ({ path, target, ...options })
await edge.serve([
  {
    ...aHost('app.test'),
    sites: [site('/'), site('/Admin/area', { allow }), site('/api', { accounts })],
  },
  { ...aHost('shut.test'), sites: [site('/', { accounts }), site('/open')] },
  { ...aHost('open.test'), sites: [site('/'), site('/api')] },
])

/** The status for a target exactly as it is written. */
async function statusOf(host: string, target: string) {
  const { promise, resolve } = Promise.withResolvers<string>()
  const socket = await Bun.connect({
    hostname: '127.0.0.1',
    port: edge.ports.http,
    socket: { data: (_, data) => resolve(data.toString().slice(9, 12)) },
  })
  socket.write(`GET ${target} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`)
  const status = await promise
  socket.end()
  return Number(status)
}

const ends = [
  ...[
    '',
    '/',
    '/x',
    ';',
    ';x',
    ';x=y/z',
    '%3b',
    '%3Bx',
    '%253b',
    '\\',
    '%5c',
    '%5Cx',
    '%255c',
    '/;',
  ],
  ...['%00', '%00x', '%2500', '%20', '%20/x', '%09', '%0a', '+', '.', '.json', '%2e', '..', '%2f'],
  ...[
    '%2Fx',
    '%252f',
    '//',
    '//x',
    '?x',
    '%3f',
    '#x',
    '%23',
    '~',
    ':',
    ',',
    '@',
    '!',
    '%c0%af',
    '%ef%bc%8f',
  ],
]
const starts = [
  ...[
    '/',
    '/%61',
    '/%41',
    '/%2561',
    '/%252541',
    '/A',
    '/\\',
    '/%2f',
    '/;/',
    '/;x/',
    '/%20/',
    '/%00/',
  ],
  ...['/%20', '/%00', '/%ef%bd%81', '/%5c', '/%252f', '//', '///', '\\/', '/./', '/.;/', '/x/../'],
  ...[
    '/x/..;/',
    '/x/..%2f',
    '/x/%2e%2e/',
    '/x/%252e%252e/',
    '/x/..\\',
    '/x%5c..%5c',
    '//x/',
    '/x//..//',
  ],
  ...['/x/..%00/', '/x/.. /', 'http://app.test/', 'http://app.test//', '/..;x/', '/.%2e/'],
]

test('a protected prefix is protected in each spelling that an app may read', async () => {
  const open: string[] = []
  const try_ = async (target: string) => {
    if (![400, 401, 403].includes(await statusOf('app.test', target))) open.push(target)
  }
  for (const end of ends) for (const path of ['/api', '/API', '/admin/area']) await try_(path + end)
  for (const start of starts)
    await try_(/(a|A|61|41|81)$/.test(start) ? `${start}pi` : `${start}api`)
  for (const between of [
    '//',
    '\\',
    '%2f',
    '/./',
    ';x/',
    '/;/',
    '%20/',
    '.x/',
    '%00/',
    '/%20',
    '%255c',
  ])
    await try_(`/admin${between}area`)
  for (const up of ['/api/../x', '/api/%2e%2e/x', '/api/..;/x', '/admin/area/..\\..\\x'])
    await try_(up)
  expect(open).toEqual([])
})

test('what only begins alike is as open as before', async () => {
  const paths = [
    '/',
    '/apis',
    '/api-docs',
    '/api_v2',
    '/x/api',
    '/admin',
    '/admin/areas',
    '/x//api',
  ]
  const odd = [
    '/a//b',
    '/x;y=1/z',
    '/x%2Fapi',
    '/.well-known/api',
    '/a..b',
    '/..a',
    '/...',
    '/x%20/api',
  ]
  for (const path of [...paths, ...odd])
    expect([path, await statusOf('app.test', path)]).toEqual([path, 200])
  for (const path of ['/api', '/api;x', '//api', '/x/../api', '/x/..;/api'])
    expect([path, await statusOf('open.test', path)]).toEqual([path, 200])
})

test('an open prefix of a protected host leads nowhere else', async () => {
  for (const path of ['/open', '/open/', '/open/x', '/open//x', '/open/a;b', '/%6fpen/x'])
    expect([path, await statusOf('shut.test', path)]).toEqual([path, 200])
  const others = [
    '/',
    '/x',
    '/opens',
    '/open;x',
    '/open.x',
    '/open/../x',
    '/open/..;/x',
    '/open/..%2fx',
  ]
  const odd = [
    '/open/%2e%2e/x',
    '/open/..\\x',
    '/open\\..\\x',
    '//open/x',
    '/\\open/x',
    '/open/%252e%252e/x',
  ]
  for (const path of [...others, ...odd])
    expect([path, [400, 401].includes(await statusOf('shut.test', path))]).toEqual([path, true])
})
