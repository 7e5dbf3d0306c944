import type { Plan } from './plan.ts'

/** Seconds for a body that no app reads: what isn't read when the response was sent keeps its connection. */
const unread = 10

/** Seconds for one of a request that was refused, as there are too many. */
const refused = 1

/** Seconds for one that states no length: the push of an image, or a stream. */
const longest = 24 * 3600

/** Seconds for others, by how many digits of the length follow the first: several times what a slow connection needs. */
const seconds = {
  '0,3': 30,
  '4': 60,
  '5': 5 * 60,
  '6': 30 * 60,
  '7': 2 * 3600,
  '8': 8 * 3600,
}

/** Of HTTP/1.1; a body of HTTP/2 ends with its response. */
export const withBody = [
  { header_regexp: { 'Content-Length': { pattern: '[1-9]' } } },
  { header: { 'Transfer-Encoding': ['*'] } },
]

/** Sets the time until a body must have come. That of a response, and of a WebSocket, isn't bounded by it. */
const within = (match: object[], time: number) => ({
  match,
  handle: [{ handler: 'request_body', read_timeout: time * 1e9 }],
})

export const unreadBodies = ({ timesBodies = false }: Plan) =>
  timesBodies ? [within(withBody, unread)] : []

export const refusedBodies = ({ timesBodies = false }: Plan) =>
  timesBodies ? within(withBody, refused).handle : []

/** Before an app; a page that stands in its slot reads nothing. */
export function bodiesOfApps({ timesBodies = false }: Plan) {
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
  const timed = { match: [{ not: [isPage] }], handle: [{ handler: 'subroute', routes }] }
  return timesBodies ? [{ handler: 'subroute', routes: [timed] }] : []
}
