import type { Plan } from './plan.ts'

/** Seconds for a body that no app reads: unread bytes keep the connection open after the response. */
const unread = 10

/** Seconds for the body of a request that was refused because there are too many. */
const refused = 1

/** Seconds for a body without a stated length: the push of an image, or a stream. */
const longest = 24 * 3600

/** Seconds by the digits of a length after its first: several times what a slow connection needs. */
const seconds = {
  '0,3': 30,
  '4': 60,
  '5': 5 * 60,
  '6': 30 * 60,
  '7': 2 * 3600,
  '8': 8 * 3600,
}

/** Matches HTTP/1.1; a body of HTTP/2 ends with its response. */
export const withBody = [
  { header_regexp: { 'Content-Length': { pattern: '[1-9]' } } },
  { header: { 'Transfer-Encoding': ['*'] } },
]

/** Limits the time in which a body must arrive. Responses and WebSockets aren't limited by it. */
const within = (match: object[], time: number) => ({
  match,
  handle: [{ handler: 'request_body', read_timeout: time * 1e9 }],
})

/** The route of requests that may have a body, with what else is done for those. */
export const bodyRoutes = ({ timesBodies = false }: Plan, more: object[] = []) => {
  const routes = [...(timesBodies ? [within(withBody, unread)] : []), ...more]
  const match = [{ not: [{ method: ['GET', 'HEAD', 'OPTIONS'] }] }, ...withBody]
  return routes.length > 0 ? [{ match, handle: [{ handler: 'subroute', routes }] }] : []
}

export const refusedBodies = ({ timesBodies = false }: Plan) =>
  timesBodies ? within(withBody, refused).handle : []

/**
 * Placed before an app, which `found` says that there is. A page in its slot doesn't read the body; slots are
 * files, read only if there is one.
 */
export function bodiesOfApps({ timesBodies = false }: Plan, found: object = {}) {
  const isPage = { vars_regexp: { '{davit.slot.0}': { pattern: '/pages/\\w+\\.sock\\z' } } }
  const routes = [
    within(withBody, longest),
    ...Object.entries(seconds).map(([digits, time]) =>
      within(
        [{ header_regexp: { 'Content-Length': { pattern: `^0*[1-9]\\d{${digits}}\\z` } } }],
        time,
      ),
    ),
  ]
  const timed = { match: [{ ...found, not: [isPage] }], handle: [{ handler: 'subroute', routes }] }
  return timesBodies
    ? [{ match: withBody, handle: [{ handler: 'subroute', routes: [timed] }] }]
    : []
}
