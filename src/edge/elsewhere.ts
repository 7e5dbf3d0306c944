import { hasProxies, tokenHeader } from './forwarded.ts'
import { pageHandler } from './pages.ts'
import { slotPlaceholders } from './plan.ts'
import type { Home, Plan } from './plan.ts'
import { toApp } from './proxy.ts'

/*
 * Edges on other servers. Each has a configuration of its own that needs none of Davit's folder, and sends to
 * Davit's edge what it doesn't reach itself: pages of Davit, shares of requests, containers without a port
 * among the servers, and the authority's challenges.
 */

/** Tells load balancers and the like whether an edge is to get requests. */
export const healthPath = '/.well-known/davit-edge'

/** In the folder of another edge: a status, which changes without a new configuration. */
export const healthFile = 'health'

/** Requests without a line in the log: Davit's edge writes it, or no one is to read it. */
const unlogged = { handler: 'vars', log_skip: true }

/** The first routes where there are several edges. */
export const edgeRoutes = (plan: Plan) => {
  const { folder, home, tokens } = plan
  if (home) return [healthRoute(`{file.${folder}/${healthFile}}`), challengeRoute(plan, home)]
  return tokens ? [healthRoute(200), fromOthers(tokens)] : []
}

const healthRoute = (status_code: number | string) => ({
  match: [{ path: [healthPath] }],
  handle: [
    unlogged,
    { handler: 'static_response', status_code, headers: { 'Cache-Control': ['no-store'] } },
  ],
  terminal: true,
})

/** An authority may ask any of the addresses of a name, and only Davit's edge knows what to respond. */
const challengeRoute = (plan: Plan, home: Home) => ({
  match: [{ path: ['/.well-known/acme-challenge/*'] }],
  handle: [{ handler: 'subroute', routes: toHome(plan, home) }],
  terminal: true,
})

/** Believes what another edge says of the visitor. Who can't know a token can't say it. */
const fromOthers = (tokens: string[]) => ({
  match: [{ header: { [tokenHeader]: tokens } }],
  handle: [
    {
      handler: 'vars',
      client_ip: '{http.request.header.X-Forwarded-For}',
      trusted_proxy: true, // not a text: Caddy panics
    },
  ],
})

/** In the slots of another edge: it sends to Davit's. */
export const homeSlot = (folder: string) => `unix/${folder}/pages/home.sock`

/** For a key with that in any slot: while slots are replaced one by one, not all have it. */
export const homeRoutes = (plan: Plan) => {
  const { folder, home } = plan
  if (!home) return undefined
  const match = slotPlaceholders.map((slot) => ({ vars: { [slot]: [homeSlot(folder)] } }))
  const routes = toHome(plan, home)
  return [{ match, handle: [{ handler: 'subroute', routes }], terminal: true }]
}

/** For a request whose slots got it after they were compared: it comes from this edge, as to an app. */
export const homeServer = (plan: Plan & { home: Home }) => {
  const said = (name: string) => `{http.request.header.X-Forwarded-${name}}`
  const visitor = { handler: 'vars', client_ip: said('For'), davit_scheme: said('Proto') }
  return {
    automatic_https: { disable: true },
    protocols: ['h1', 'h2c'],
    listen: [`${homeSlot(plan.folder)}|0600`],
    routes: [{ handle: [visitor] }, ...toHome(plan, plan.home, true)],
  }
}

/** For what an edge no longer reaches where it was: only Davit's knows where it is now. Nothing was sent yet. */
export const lostRoute = (plan: Plan & { home: Home }) => ({
  match: [
    {
      method: ['GET', 'HEAD'],
      vars_regexp: { '{http.error.message}': { pattern: '^dial tcp ' } },
      not: [{ vars: { [slotPlaceholders[0]!]: [homeSlot(plan.folder)] } }],
    },
  ],
  handle: [
    {
      handler: 'subroute',
      routes: toHome(plan, plan.home),
      errors: { routes: [{ handle: [pageHandler('unreachable')] }] },
    },
  ],
  terminal: true,
})

function toHome(plan: Plan, { address, token }: Home, isTrusting = hasProxies(plan)) {
  const headers = {
    request: {
      set: {
        'X-Forwarded-For': ['{http.vars.client_ip}'],
        'X-Forwarded-Proto': [isTrusting ? '{http.vars.davit_scheme}' : '{http.request.scheme}'],
        'X-Forwarded-Host': ['{http.request.hostport}'],
        [tokenHeader]: [token],
      },
    },
  }
  return [
    { handle: [unlogged] },
    ...toApp([address], { isTrusting, headers, kinds: [{ protocol: 'http' }] }),
  ]
}

/** Where another edge has the certificate of a host that ends then: one that was renewed has another name. */
export const certificateFile = (host: string, end: number, kind: 'crt' | 'key') =>
  `certificates/${host}-${end}.${kind}`
