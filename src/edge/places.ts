import type { Plan } from './plan.ts'

/*
 * Caddy counts concurrent requests of an upstream, but not of a visitor. So one of its own servers, which
 * does nothing, is an upstream for each group of addresses: a request to it takes a place, which is kept
 * until the handler of its response has ended.
 */

/** Concurrent requests with a body for one group of addresses. */
const maxPlaces = 512

export const placeAddress = (folder: string, name: string) => `unix/${folder}/places/${name}.sock`

/** Two digits of an IPv4 address, or one of an IPv6 network: a visitor has all addresses of a /64. */
export const turnOf = {
  handler: 'map',
  source: '{http.vars.client_ip}',
  destinations: ['{davit.turn}'],
  mappings: [
    { input_regexp: '\\.\\d??(\\d{1,2})$', outputs: ['$1'] },
    { input_regexp: '^(?:[0-9a-f]+:){3}[0-9a-f]*?([0-9a-f])(?::|$)', outputs: ['$1'] },
  ],
  defaults: ['x'],
}

const digits = [...'0123456789abcdefx']

const names = [
  ...Array.from({ length: 100 }, (_, n) => String(n).padStart(2, '0')),
  ...digits,
  ...digits.map((digit) => `body-${digit}`),
  'login',
]

/** `routes` run while a place is kept. */
export const placeServer = ({ folder }: Plan, routes: object[]) => ({
  automatic_https: { disable: true },
  protocols: ['h1'],
  listen: names.map((name) => `${placeAddress(folder, name)}|0600`),
  routes: [...routes, { handle: [{ handler: 'static_response', status_code: 204 }] }],
})

/** A request of the edge to itself, with only these headers. */
export const internal = (upstream: object, set: Record<string, string[]> = {}) => ({
  handler: 'reverse_proxy',
  upstreams: [upstream],
  rewrite: { method: 'GET', uri: '/' },
  headers: { request: { delete: ['*'], set: { Host: ['davit'], ...set } } },
})

/**
 * With more than one, Caddy 2.11 may open one of them when the same request is already on its way to an app,
 * and would then connect to the app.
 */
export const oneConnection = { protocol: 'http', max_conns_per_host: 1, compression: false }

/** Routes of requests with a body. Above the limit there is no upstream, which is an error 503. */
export const bodyPlaces = ({ folder }: Plan) => [
  { handle: [turnOf] },
  ...digits.map((digit) => ({
    group: 'places',
    match: [{ vars_regexp: { '{davit.turn}': { pattern: `${digit}\\z` } } }],
    handle: [
      {
        ...internal({ dial: placeAddress(folder, `body-${digit}`), max_requests: maxPlaces }),
        transport: oneConnection,
        handle_response: [{ match: { status_code: [204] } }],
      },
    ],
  })),
]
