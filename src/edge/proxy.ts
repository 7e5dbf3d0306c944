import { visitorHeaders } from './forwarded.ts'

type ProxyOptions = {
  isTrusting: boolean
  /** What changes headers, if not what a proxy needs. */
  headers?: object
  /** The protocols of apps, and what requests to such a one match. */
  kinds: { protocol: Protocol; match?: object }[]
}

/** The routes that proxy to one of an app's instances. */
export function toApp(dials: string[], { isTrusting, headers, kinds }: ProxyOptions) {
  const changed = headers ?? (isTrusting ? visitorHeaders : undefined)
  const routes = (options: object) =>
    kinds.map(({ protocol, match }) => ({
      ...(match && { match: [match] }),
      handle: [
        {
          ...proxy,
          ...(changed && { headers: changed }),
          upstreams: dials.map((dial) => ({ dial })),
          transport: { ...transport, ...(protocol === 'h2c' && { versions: ['h2c'] }) },
          ...options,
        },
      ],
      terminal: true,
    }))
  return [
    within(shortBody, routes({ handle_response: compressed, request_buffers: 100_000 })),
    within(takesNoEncoding, routes({})),
    ...routes({ handle_response: compressed }),
  ]
}

/** Checks one condition first: Caddy runs the matchers of one route in any order, and some are slow. */
export function within(match: object, routes: object[]) {
  return { match: [match], handle: [{ handler: 'subroute', routes }] }
}

const takesNoEncoding = { header: { 'Accept-Encoding': null } }

/**
 * Less than 100,000 bytes. Caddy reads such a body before it contacts the app: it closes a body when a
 * response begins, and cuts off the response if it is just about to reach the end of the body.
 */
const shortBody = { header_regexp: { 'Content-Length': { pattern: '^0*[1-9]\\d{0,4}\\z' } } }

/** HTTP/1.1, or HTTP/2 without TLS. */
export type Protocol = 'http' | 'h2c'

const encode = { handler: 'encode', encodings: { gzip: {}, zstd: {} }, prefer: ['zstd', 'gzip'] }

/** Streams never have these types. */
const documents = [
  ...['text/html', 'text/css', 'text/javascript', 'text/xml', 'application/javascript'],
  ...['application/json', 'application/ld+json', 'application/problem+json', 'application/xml'],
  ...['application/xhtml+xml', 'application/rss+xml', 'application/atom+xml', 'application/wasm'],
  ...[
    'application/manifest+json',
    'application/geo+json',
    'application/vnd.api+json',
    'image/svg+xml',
  ],
  ...['image/x-icon', 'image/vnd.microsoft.icon', 'font/ttf', 'font/otf'],
].flatMap((type) => [type, `${type};*`])

/**
 * Compresses everything but streams: `encode` holds back the headers until it has seen some of the body. A
 * response of another type may be a stream unless it has a length. An app marks a stream with
 * X-Accel-Buffering, as for other proxies.
 */
const compressed = [
  { 'Content-Type': documents },
  { 'Content-Type': ['text/*'], 'Content-Length': ['*'] },
].map((headers) => ({
  match: { headers: { ...headers, 'X-Accel-Buffering': null } },
  routes: [{ handle: [encode, { handler: 'copy_response' }] }],
}))

/**
 * Tries another slot when an instance refuses the connection. No passive health checks: Caddy would count the
 * failures of one app for all, since all share the same placeholders.
 */
const proxy = {
  handler: 'reverse_proxy',
  // a response of a known length that comes slowly; at once would be two writes for each response
  flush_interval: 10e6,
  load_balancing: {
    selection_policy: { policy: 'random' },
    try_duration: '3s',
    try_interval: '10ms',
  },
  // WebSockets stay with the configuration they started with
  stream_close_delay: '24h',
}

const transport = {
  protocol: 'http',
  // a removed container doesn't even refuse: long enough for any other, and short enough to come to another slot
  dial_timeout: '300ms',
  // shorter than any app's own, and soon over when an instance is drained
  keep_alive: { idle_timeout: '2s', max_idle_conns_per_host: 256 },
  compression: false,
}
