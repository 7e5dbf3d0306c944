import { edgeRoutes, homeRoutes, homeServer, lostRoute } from './elsewhere.ts'
import { keyInLog, logged, loggingOf } from './access-log.ts'
import { bodyRoutes, refusedBodies } from './bodies.ts'
import { certificatesOf, connectionPolicies, permissionRoutes } from './certificates.ts'
import { pageHandler, plainHandler } from './pages.ts'
import {
  adminAddress,
  hostPath,
  isPlain,
  keyOf,
  namesPath,
  pageAddress,
  pageNames,
} from './plan.ts'
import type { Home, Host, Listener, Plan } from './plan.ts'
import { comparisons, loginRoute } from './logins.ts'
import { bodyPlaces, placeServer } from './places.ts'
import { forwardedInLog, hasProxies, isScheme, visitorRoutes, trusting } from './forwarded.ts'
import { within } from './proxy.ts'
import { shareServer } from './shares.ts'
import { pathless, siteRoutes, strictHosts } from './sites.ts'
import { clearPaths } from './spellings.ts'
import { outputsOf, redirect, slotsIn, targetRoutes, unlistedHosts } from './targets.ts'

/**
 * Caddy's whole configuration. One table maps all hosts to slots instead of a route each, which keeps a
 * thousand hosts small. Deployments change slots, not this; plain hosts and requested certificates are files
 * as well. `last` handles requests that match nothing.
 */
export function configurationOf(plan: Plan, last: object[] = [pageHandler('nobody')]) {
  return {
    admin: { listen: adminAddress(plan.folder) },
    logging: loggingOf(plan),
    apps: {
      http: {
        http_port: plan.ports.http,
        https_port: plan.ports.https,
        servers: {
          hosts: hostServer(plan, last),
          ...(plan.listeners.length > 0 && { listeners: listenerServer(plan) }),
          places: placeServer(plan, [comparisons(plan)]),
          ...(plan.home
            ? { home: homeServer({ ...plan, home: plan.home }) }
            : { shares: shareServer(plan, errorsOf(plan)) }),
          ...Object.fromEntries(pageNames.map((name) => [`page ${name}`, pageServer(plan, name)])),
        },
      },
      tls: certificatesOf(plan),
    },
  }
}

/**
 * True when the active configuration differs from the new one only in plain hosts, which are found without
 * it, too. A host with HTTPS isn't plain: it is redirected.
 */
export function differInPlainHosts(
  current: unknown,
  wanted: unknown,
  { hosts }: Pick<Plan, 'hosts'>,
) {
  const secure = new Set(hosts.flatMap(({ name, https }) => (https.kind === 'off' ? [] : name)))
  return Bun.deepEquals(withoutPlain(current, secure), withoutPlain(wanted, secure))
}

/** A copy without the table rows of plain hosts, whose links say the same. */
const withoutPlain = (configuration: unknown, secure: ReadonlySet<string>): unknown =>
  JSON.parse(JSON.stringify(configuration), (name, value) => {
    if (name === 'mappings' && Array.isArray(value))
      return value.filter(({ outputs }) => !/^\{file\.[^}]*\/hosts\//.test(outputs?.[1]))
    if (name === 'not' && value[0]?.host)
      return value[0].host.filter((host: string) => secure.has(host))
    return value
  })

/** Caddy doesn't decide itself which certificates it requests and which names it redirects. */
const server = {
  automatic_https: { disable: true },
  protocols: ['h1', 'h2', 'h2c'],
  read_header_timeout: '10s',
  // for a body, and for a response to a visitor who reads nothing; WebSockets have no such limit
  read_timeout: '24h',
  write_timeout: '24h',
  max_header_bytes: 65_536,
}

function hostServer(plan: Plan, last: object[]) {
  const { folder, ports, trustedProxies } = plan
  const isTrusting = hasProxies(plan)
  return {
    ...server,
    ...trusting(trustedProxies),
    listen: [`:${ports.http}`, `:${ports.https}`],
    logs: logged,
    tls_connection_policies: connectionPolicies(plan),
    routes: [
      ...edgeRoutes(plan),
      forwardedInLog(isTrusting),
      ...bodyRoutes(plan, bodyPlaces(plan)),
      ...visitorRoutes(isTrusting),
      plainHost,
      ...(plan.authority ? permissionRoutes(folder) : []),
      ...redirectToHttps(plan),
      ...hostRoutes(plan, { isTrusting }),
      ...(plan.home ? [] : [unlistedHosts(plan, isTrusting)]),
      { handle: last },
    ],
    errors: errorsOf(plan),
  }
}

function hostRoutes(plan: Plan, { pages, isTrusting }: { pages?: object[]; isTrusting: boolean }) {
  const { folder, hosts } = plan
  const rows = hosts.flatMap(({ name, sites }) =>
    sites.map((site) => ({
      key: keyOf(name, site),
      outputs:
        isPlain(site) && !plan.home ? slotsIn(hostPath(folder, name)) : outputsOf(folder, site),
    })),
  )
  return [
    pathless,
    ...clearPaths(hosts),
    ...strictHosts(hosts, isTrusting),
    ...hosts.flatMap((host) => siteRoutes(host, { isForeign: pages !== undefined })),
    ...(pages || !hosts.some(hasLogin) ? [] : [loginRoute(plan)]),
    ...targetRoutes(plan, rows, {
      key: '{http.request.host}{http.vars.davit}',
      pages: pages ?? homeRoutes(plan),
      isTrusting,
    }),
  ]
}

const hasLogin = ({ sites }: Host) => sites.some(({ accounts = [] }) => accounts.length > 0)

/**
 * A single route for the user's own Caddy, which gets certificates for its hosts by itself. `intercept` is
 * never reached: it exists in every Caddy that supports slots, so an older one refuses the route.
 */
export const foreignRoute = (plan: Plan, last: object[] = [pageHandler('nobody')]) => ({
  '@id': foreignId.route,
  match: [{ host: plan.hosts.map(({ name }) => name) }],
  handle: [
    {
      handler: 'subroute',
      routes: [
        { match: [{ host: ['intercept.invalid'] }], handle: [{ handler: 'intercept' }] },
        ...visitorRoutes(true),
        plainHost,
        ...hostRoutes(plan, { pages: foreignPages(), isTrusting: true }),
        { handle: last },
      ],
      errors: errorsOf(plan),
    },
  ],
  terminal: true,
})

/** The ports of environments, as a server of such a Caddy. */
export const foreignListeners = (plan: Plan) => ({
  '@id': foreignId.listeners,
  ...listenerServer(plan, foreignPages()),
  logs: { default_logger_name: 'davit' }, // by which that Caddy's own logs can tell them apart
})

/** Ids of Davit's parts in such a Caddy. */
export const foreignId = { route: 'davit', listeners: 'davit-ports' }

/** The user's Caddy has no sockets for pages, so a slot's value is compared with their addresses first. */
const foreignPages = () =>
  pageNames.map((name) => ({
    match: [{ vars_regexp: { '{davit.slot.0}': { pattern: `^unix/.*/pages/${name}\\.sock\\z` } } }],
    handle: [pageHandler(name)],
    terminal: true,
  }))

function listenerServer(plan: Plan, pages?: object[]) {
  const { folder, listeners, trustedProxies } = plan
  const isTrusting = hasProxies(plan)
  const rows = listeners.map(({ port, slots }) => ({
    key: `:${port}`,
    outputs: outputsOf(folder, { target: { slots } }),
  }))
  return {
    ...server,
    ...trusting(trustedProxies),
    listen: listeners.map(listenAddress),
    logs: logged,
    routes: [
      forwardedInLog(isTrusting),
      ...bodyRoutes(plan, pages ? [] : bodyPlaces(plan)),
      ...visitorRoutes(isTrusting),
      { handle: [{ handler: 'vars', davit: ':{http.request.local.port}' }, keyInLog('davit')] },
      ...targetRoutes(plan, rows, { key: '{http.vars.davit}', pages, isTrusting }),
      { handle: [pageHandler('nobody')] },
    ],
    errors: errorsOf(plan),
  }
}

/** As Caddy formats it, also in its error messages. */
export const listenAddress = ({ address, port }: Pick<Listener, 'address' | 'port'>) =>
  address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`

const pageServer = ({ folder }: Plan, name: (typeof pageNames)[number]) => ({
  automatic_https: { disable: true },
  protocols: ['h1', 'h2c'], // for apps that speak either
  listen: [`${pageAddress(folder, name)}|0600`],
  routes: [{ handle: [pageHandler(name)] }],
})

/** The table compares exactly, while hosts may have capitals and a trailing dot. */
const lowerCase = {
  match: [{ header_regexp: { Host: { pattern: '[A-Z]|\\.(:|$)' } } }],
  handle: [
    {
      handler: 'headers',
      request: {
        replace: {
          Host: [
            ...Array.from({ length: 26 }, (_, at) => ({
              search: String.fromCharCode(65 + at),
              replace: String.fromCharCode(97 + at),
            })),
            { search_regexp: '\\.(:|$)', replace: '$1' },
          ],
        },
      },
    },
  ],
}

/** HTTP/2 allows any text as a host: with a slash it would be a path to another host's slots. */
const noHost = {
  match: [{ header_regexp: { Host: { pattern: '[^\\w.:-]' } } }],
  handle: [pageHandler('nobody')],
  terminal: true,
}

/** Only passes on hosts in their configured form. */
const plainHost = within({ header_regexp: { Host: { pattern: '[^a-z0-9.-]|\\.$' } } }, [
  noHost,
  lowerCase,
])

function redirectToHttps(plan: Plan) {
  const { folder, home, ports, hosts } = plan
  if (hosts.every(({ https }) => https.kind === 'off')) return []
  const port = ports.https === 443 ? '' : `:${ports.https}`
  const location = `https://{http.request.host}${port}{http.request.uri}`
  const file = { root: namesPath(folder, 'redirects'), try_files: ['/{http.request.host}'] }
  if (home) return certifiedToHttps(plan, home, location)
  const plain = hosts.flatMap(({ name, https }) => (https.kind === 'off' ? name : []))
  return [
    within({ ...isScheme('http', hasProxies(plan)), not: [{ host: plain }] }, [
      { match: [{ file }], handle: [redirect(location)], terminal: true },
    ]),
  ]
}

function certifiedToHttps(plan: Plan, { certified }: Home, location: string) {
  const isSecure = ({ name, https }: Host) =>
    https.kind !== 'off' && https.redirect && (https.kind === 'own' || name in certified)
  const host = plan.hosts.filter(isSecure).map(({ name }) => name)
  const match = [{ ...isScheme('http', hasProxies(plan)), host }]
  return host.length > 0 ? [{ match, handle: [redirect(location)], terminal: true }] : []
}

/** Caddy's own errors; an app's errors are passed through. */
const errorsOf = ({ home, ...plan }: Plan) => ({
  routes: [
    ...(home ? [lostRoute({ ...plan, home })] : []),
    {
      match: [{ vars: { '{http.error.status_code}': ['502', '504'] } }],
      handle: [pageHandler('unreachable')],
    },
    {
      // too many requests; unless it closes the connection, Caddy would read the body first
      match: [{ vars: { '{http.error.status_code}': ['503'] } }],
      handle: [
        ...refusedBodies(plan),
        { handler: 'headers', response: { set: { Connection: ['close'] } } },
        plainHandler(429, 'Too many requests of your network are under way.'),
      ],
    },
    {
      match: [{ vars: { '{http.error.status_code}': ['413'] } }],
      handle: [plainHandler(413, 'The request is larger than this address allows.')],
    },
  ],
})
