import { literal, plainHandler } from './pages.ts'
import type { Options } from './plan.ts'

/** The handlers before the app, in this order. */
export function optionHandlers({ accounts = [], allow = [], headers = {}, maxBody }: Options) {
  const set = Object.entries(headers).map(([name, value]) => [literal(name), [literal(value)]])
  return [
    ...(allow.length > 0 ? [onlyFrom(allow)] : []),
    ...(accounts.length > 0 ? [logIn(accounts)] : []),
    ...(maxBody !== undefined ? [{ handler: 'request_body', max_size: maxBody }] : []),
    ...(set.length > 0
      ? [{ handler: 'headers', response: { deferred: true, set: Object.fromEntries(set) } }]
      : []),
  ]
}

const onlyFrom = (ranges: string[]) => ({
  handler: 'subroute',
  routes: [
    {
      match: [{ not: [{ client_ip: { ranges } }] }],
      handle: [plainHandler(403, 'Your IP address isn’t allowed here.')],
      terminal: true,
    },
  ],
})

/** Checked once for each password: bcrypt is slow on purpose. */
const logIn = (accounts: NonNullable<Options['accounts']>) => ({
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
