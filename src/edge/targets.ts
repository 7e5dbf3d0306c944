import { dropForged, visitorHeaders } from './forwarded.ts'
import { literal, pageHandler } from './pages.ts'
import { pageAddress, pageNames, slotCount, slotsPath } from './plan.ts'
import type { Target } from './plan.ts'
import { namedCount } from './slots.ts'

export type Row = { key: string; outputs: string[] }

/** The handlers of a key: its slots, or a redirect. `pages` are routes for slots that have one. */
export function targetRoutes(rows: Row[], pages: object[]) {
  const slots = Array.from({ length: slotCount }, (_, slot) => `{davit.slot.${slot}}`)
  const table = {
    handler: 'map',
    source: '{http.vars.davit}',
    destinations: ['{davit.kind}', ...slots],
    mappings: rows.map(({ key, outputs }) => ({ input: key, outputs })),
  }
  return [
    { handle: [table] },
    ...pages,
    when('slots', toApp(slots)),
    when('redirect', [redirect('{davit.slot.0}{http.request.uri}')]),
  ]
}

/**
 * Hosts that aren't in the table yet, since Caddy loses some requests with each new configuration.
 * They are found by file names, which is slower than the table.
 */
export function unlistedHosts(folder: string) {
  const name = {
    '{http.matchers.file.relative}': { name: 'named', pattern: '@(?:page\\.(\\w+)|(.+))$' },
  }
  const list = Array.from({ length: namedCount }, () => '([^,]+)').join(',') // all of it, by their number
  const slots = Array.from({ length: namedCount }, (_, slot) => `{http.regexp.slots.${slot + 1}}`)
  const routes = [
    ...pageNames.map((page) => ({
      match: [{ vars: { '{http.regexp.named.1}': [page] } }],
      handle: [pageHandler(page)],
      terminal: true,
    })),
    {
      match: [{ vars_regexp: { '{http.regexp.named.2}': { name: 'slots', pattern: list } } }],
      handle: toApp(slots),
      terminal: true,
    },
  ]
  return {
    match: [{ file: { root: `${folder}/hosts`, ...newest } }],
    handle: [
      {
        handler: 'subroute',
        routes: [{ match: [{ vars_regexp: name }], handle: [{ handler: 'subroute', routes }] }],
      },
    ],
  }
}

/** Used as found: at a second lookup the slots may have changed. */
const newest = { try_files: ['/{http.vars.davit}/@*'], try_policy: 'first_exist_fallback' }

const when = (kind: string, handle: object[]) => ({
  match: [{ vars: { '{davit.kind}': [kind] } }],
  handle,
  terminal: true,
})

export function outputsOf(folder: string, target: Target) {
  if ('redirect' in target) return ['redirect', literal(target.redirect), ...rest]
  if ('slots' in target) return slotsIn(slotsPath(folder, target.slots))
  return ['slots', ...Array.from({ length: slotCount }, () => pageAddress(folder, target.page))]
}

export const slotsIn = (path: string) => [
  'slots',
  ...Array.from({ length: slotCount }, (_, slot) => `{file.${path}/${slot}}`),
]

const rest = Array.from({ length: slotCount - 1 }, () => '')

export const redirect = (location: string) => ({
  handler: 'static_response',
  status_code: 308,
  headers: { Location: [location] },
})

const encode = { handler: 'encode', encodings: { gzip: {}, zstd: {} }, prefer: ['zstd', 'gzip'] }

const toApp = (dials: string[]) => [
  ...dropForged,
  encode,
  { ...proxy, upstreams: dials.map((dial) => ({ dial })) },
]

/**
 * An instance that refuses the connection is skipped by trying another slot. No passive health checks:
 * Caddy would count the failures of one app for all, since all share the same placeholders.
 */
const proxy = {
  handler: 'reverse_proxy',
  headers: visitorHeaders,
  load_balancing: {
    selection_policy: { policy: 'random' },
    try_duration: '3s',
    try_interval: '10ms',
  },
  // WebSockets stay with the configuration they started with
  stream_close_delay: '24h',
  transport: {
    protocol: 'http',
    // a removed container doesn't even refuse
    dial_timeout: '1s',
    // shorter than any app's own, and soon over when an instance is drained
    keep_alive: { idle_timeout: '2s', max_idle_conns_per_host: 256 },
    compression: false,
  },
}
