import { literal } from './pages.ts'
import { keyOf } from './plan.ts'
import type { Accounts, Host, Plan } from './plan.ts'
import { internal, oneConnection, placeAddress, turnOf } from './places.ts'

/**
 * Compares a password on the server of the route. bcrypt is slow on purpose, and nothing here limits how many
 * passwords are compared at once; each is compared only once.
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

/**
 * Marks requests of a site for `loginRoute`. Caddy needs sixteen times as long for an unknown user name, so
 * these are refused before.
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

/** A pattern for base64 that begins with a text, whose last bits may share a character with what follows. */
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
 * Sends the login to `placeServer`, whose comparisons leave the processors to the requests of all others. The
 * single connection to each of its sockets is a queue, so that an address only waits for its own guesses; a
 * visitor who has left no longer queues.
 */
export const loginRoute = ({ folder }: Pick<Plan, 'folder'>) => ({
  match: [{ vars_regexp: { [loginOf]: { pattern: '.' } } }],
  handle: [turnOf, askTo(placeAddress(folder, '{davit.turn}'))],
})

const loginOf = '{http.vars.davit_login}'

const siteHeader = 'Davit-Site'

/** A comparison that waits while another configuration is loaded is lost, and repeated. */
const askTo = (dial: string, left = 3): object => ({
  ...internal(
    { dial },
    { [siteHeader]: [loginOf], Authorization: ['{http.request.header.Authorization}'] },
  ),
  transport: oneConnection,
  handle_response: [
    { match: { status_code: [204] } },
    { match: { status_code: [401] }, routes: [{ handle: [unauthorized] }] },
    { routes: [{ handle: [left > 0 ? askTo(dial, left - 1) : busy] }] },
  ],
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
 * until that has ended, even if the visitor has left.
 */
export const comparisons = ({ folder, hosts }: Plan) => ({
  match: [{ header: { [siteHeader]: ['*'] } }],
  handle: [
    {
      ...internal({ dial: placeAddress(folder, 'login'), max_requests: 1 }),
      load_balancing: { try_duration: '5s', try_interval: '10ms' },
      handle_response: [{ routes: hosts.flatMap(comparisonsOf) }],
    },
  ],
  terminal: true,
})

const comparisonsOf = ({ name, sites }: Host) =>
  sites.flatMap(({ path, accounts = [] }) => {
    const site = { [`{http.request.header.${siteHeader}}`]: [literal(keyOf(name, { path }))] }
    const route = { match: [{ vars: site }], handle: [logIn(accounts), checked], terminal: true }
    return accounts.length === 0 ? [] : [route]
  })
