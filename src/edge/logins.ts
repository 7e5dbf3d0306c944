import { literal } from './pages.ts'
import { keyOf, loginAddress } from './plan.ts'
import type { Accounts, Plan } from './plan.ts'

/**
 * Compares a password in the server that asks. bcrypt is slow on purpose, and nothing here bounds how
 * many passwords are compared at once; each is compared only once.
 */
export const logIn = (accounts: Accounts) => ({
  handler: 'authentication',
  providers: {
    http_basic: {
      accounts: accounts.map(({ username, hash: password }) => ({
        username: literal(username),
        password,
      })),
      hash_cache: {},
    },
  },
})

/** Whether anything of a plan needs a login. */
export const needLogins = ({ hosts }: Pick<Plan, 'hosts'>) =>
  hosts.some(({ sites }) => sites.some(({ accounts = [] }) => accounts.length > 0))

/**
 * Marks requests of a site for `loginRoute`. Caddy's comparison with no account's password takes sixteen times
 * as long as another, so that unknown names are refused before.
 */
export const needsLogin = (key: string, accounts: Accounts) => ({
  handler: 'subroute',
  routes: [
    {
      match: [{ not: [{ header_regexp: { Authorization: { pattern: ofOne(accounts) } } }] }],
      handle: [unauthorized],
      terminal: true,
    },
    { handle: [{ handler: 'vars', davit_login: literal(key) }] },
  ],
})

const ofOne = (accounts: Accounts) =>
  `^(?i:basic) +(?:${accounts.map(({ username }) => startIn64(`${username}:`)).join('|')})`

/** A pattern for base64 that begins with a text. Its last bits share a character with what follows. */
function startIn64(text: string) {
  const bytes = Buffer.from(text)
  const bits = (bytes.length * 8) % 6
  const whole = Math.floor((bytes.length * 8) / 6)
  const [from, to] = [0x00, 0xff].map((rest) =>
    Buffer.concat([bytes, Buffer.of(rest)]).toString('base64'),
  )
  const start = from!.slice(0, whole).replaceAll('+', '\\+')
  if (bits === 0) return start
  const at = alphabet.indexOf(from![whole]!)
  return `${start}[${alphabet.slice(at, alphabet.indexOf(to![whole]!) + 1)}]`
}

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'

/**
 * Asks `loginServer`, whose comparisons leave the processors to the requests of all others. One connection to
 * each of its sockets is a queue, so that one address waits for its own guesses; a visitor who left is out of it.
 */
export const loginRoute = ({ folder }: Pick<Plan, 'folder'>) => ({
  match: [{ vars_regexp: { [loginOf]: { pattern: '.' } } }],
  handle: [queueOf, askTo(loginAddress(folder, '{davit.queue}'))],
})

const loginOf = '{http.vars.davit_login}'

/** Two digits of an IPv4 address, and one of an IPv6 network, since a visitor has all addresses of a /64. */
const queueOf = {
  handler: 'map',
  source: '{http.vars.client_ip}',
  destinations: ['{davit.queue}'],
  mappings: [
    { input_regexp: '\\.\\d??(\\d{1,2})$', outputs: ['$1'] },
    { input_regexp: '^(?:[0-9a-f]+:){3}[0-9a-f]*?([0-9a-f])(?::|$)', outputs: ['$1'] },
  ],
  defaults: ['other'],
}

const queues = [
  ...Array.from({ length: 100 }, (_, n) => String(n).padStart(2, '0')),
  ...Array.from({ length: 16 }, (_, n) => n.toString(16)),
  'other',
]

const siteHeader = 'Davit-Site'

const askTo = (dial: string) => ({
  ...request(
    { dial },
    { [siteHeader]: [loginOf], Authorization: ['{http.request.header.Authorization}'] },
  ),
  transport: { protocol: 'http', max_conns_per_host: 1, compression: false },
  handle_response: [
    { match: { status_code: [204] } },
    { match: { status_code: [401] }, routes: [{ handle: [unauthorized] }] },
    { routes: [{ handle: [busy] }] },
  ],
})

/** A request of the edge to itself, with these headers alone. */
const request = (upstream: object, set: Record<string, string[]> = {}) => ({
  handler: 'reverse_proxy',
  upstreams: [upstream],
  rewrite: { method: 'GET', uri: '/' },
  headers: { request: { delete: ['*'], set: { Host: ['davit'], ...set } } },
})

const unauthorized = {
  handler: 'static_response',
  status_code: 401,
  headers: { 'WWW-Authenticate': ['Basic realm="restricted"'] },
}

const busy = { handler: 'static_response', status_code: 503, headers: { 'Retry-After': ['10'] } }

const checked = { handler: 'static_response', status_code: 204 }

/**
 * Compares one password at a time, in the handler of a response to itself: the upstream counts the request
 * until that has ended, also if the visitor has left.
 */
export const loginServer = ({ folder, hosts }: Plan) => ({
  automatic_https: { disable: true },
  protocols: ['h1'],
  listen: [...queues, 'place'].map((name) => `${loginAddress(folder, name)}|0600`),
  routes: [
    {
      match: [{ not: [{ header: { [siteHeader]: ['*'] } }] }],
      handle: [checked],
      terminal: true,
    },
    {
      handle: [
        {
          ...request({ dial: loginAddress(folder, 'place'), max_requests: 1 }),
          load_balancing: { try_duration: '5s', try_interval: '10ms' },
          handle_response: [
            {
              routes: hosts.flatMap(({ name, sites }) =>
                sites.flatMap(({ path, accounts = [] }) =>
                  accounts.length === 0
                    ? []
                    : {
                        match: [
                          {
                            vars: {
                              [`{http.request.header.${siteHeader}}`]: [
                                literal(keyOf(name, { path })),
                              ],
                            },
                          },
                        ],
                        handle: [logIn(accounts), checked],
                        terminal: true,
                      },
                ),
              ),
            },
          ],
        },
      ],
    },
  ],
})
