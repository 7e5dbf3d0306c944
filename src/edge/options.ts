import { literal, plainHandler } from './pages.ts'
import type { Accounts, Options } from './plan.ts'

/** The handlers before the app, in this order. */
export function optionHandlers(
  { accounts = [], allow = [], headers = {}, maxBody }: Options,
  login: (accounts: Accounts) => object,
) {
  const set = Object.entries(headers).map(([name, value]) => [literal(name), [literal(value)]])
  return [
    ...(allow.length > 0 ? [onlyFrom(allow)] : []),
    ...(accounts.length > 0 ? [login(accounts)] : []),
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
