import { literal, pageHandler } from './pages.ts'
import { pageAddress, pageNames, slotCount, slotPlaceholders, slotsPath } from './plan.ts'
import type { Plan, Site } from './plan.ts'
import { bodiesOfApps } from './bodies.ts'
import { dropForged, realAddress } from './forwarded.ts'
import { toApp } from './proxy.ts'
import type { Protocol } from './proxy.ts'
import { namedCount } from './slots.ts'

export type Row = { key: string; outputs: string[] }

/** Handles a key: its slots or a redirect. `pages` are routes for pages in slots. */
export function targetRoutes(
  plan: Plan,
  rows: Row[],
  {
    key,
    pages = [],
    isTrusting,
  }: { key: string; pages?: object[] | undefined; isTrusting: boolean },
) {
  const table = {
    handler: 'map',
    source: key,
    destinations: ['{davit.kind}', ...slotPlaceholders],
    mappings: rows.map(({ key: input, outputs }) => ({ input, outputs })),
  }
  const has = (kind: string) => rows.some(({ outputs }) => outputs[0] === kind)
  const protocols = (['http', 'h2c'] as const).filter((kind) => kind === 'http' || has(kind))
  const kinds = protocols.map((protocol) => ({ protocol, match: isKind(protocol) }))
  return [
    ...dropForged(isTrusting),
    { handle: [realAddress, table] },
    ...pages,
    ...bodiesOfApps(plan, isKind(...protocols)),
    ...toApp(slotPlaceholders, { isTrusting, kinds }),
    ...(has('redirect')
      ? [
          {
            match: [isKind('redirect')],
            handle: [redirect('{davit.slot.0}{http.request.uri}')],
            terminal: true,
          },
        ]
      : []),
  ]
}

/**
 * For hosts that aren't in the table yet, since Caddy loses some requests with each new configuration. They
 * are found by file names, which is slower than the table.
 */
export function unlistedHosts(plan: Plan, isTrusting: boolean) {
  const name = {
    '{http.matchers.file.relative}': { name: 'named', pattern: '@(?:page\\.(\\w+)|(.+))$' },
  }
  const list = Array.from({ length: namedCount }, () => '([^,]+)').join(',') // matches only a complete list
  const slots = Array.from({ length: namedCount }, (_, slot) => `{http.regexp.slots.${slot + 1}}`)
  const routes = [
    ...pageNames.map((page) => ({
      match: [{ vars: { '{http.regexp.named.1}': [page] } }],
      handle: [pageHandler(page)],
      terminal: true,
    })),
    {
      match: [{ vars_regexp: { '{http.regexp.named.2}': { name: 'slots', pattern: list } } }],
      handle: [
        {
          handler: 'subroute',
          routes: [
            ...bodiesOfApps(plan),
            ...toApp(slots, { isTrusting, kinds: [{ protocol: 'http' }] }),
          ],
        },
      ],
      terminal: true,
    },
  ]
  return {
    match: [{ file: { root: `${plan.folder}/hosts`, ...newest } }],
    handle: [
      {
        handler: 'subroute',
        routes: [{ match: [{ vars_regexp: name }], handle: [{ handler: 'subroute', routes }] }],
      },
    ],
  }
}

/** The name itself has the addresses: at a second lookup the slots may have changed. */
const newest = { try_files: ['/{http.request.host}/@*'], try_policy: 'first_exist_fallback' }

const isKind = (...kinds: string[]) => ({ vars: { '{davit.kind}': kinds } })

export function outputsOf(folder: string, { target, isH2c }: Pick<Site, 'target' | 'isH2c'>) {
  if ('redirect' in target) return ['redirect', literal(target.redirect), ...rest]
  if ('slots' in target) return slotsIn(slotsPath(folder, target.slots), isH2c ? 'h2c' : 'http')
  return ['http', ...Array.from({ length: slotCount }, () => pageAddress(folder, target.page))]
}

export const slotsIn = (path: string, protocol: Protocol = 'http') => [
  protocol,
  ...Array.from({ length: slotCount }, (_, slot) => `{file.${path}/${slot}}`),
]

const rest = Array.from({ length: slotCount - 1 }, () => '')

export const redirect = (location: string) => ({
  handler: 'static_response',
  status_code: 308,
  headers: { Location: [location] },
})
