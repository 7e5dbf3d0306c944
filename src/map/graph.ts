import { placesOf } from '../addresses/places.ts'
import type { Domain } from '../addresses/store.ts'
import type { LiveDeps } from '../apps/live.ts'
import type { LogDb } from '../db/index.ts'
import { domainsJson, leftOut, whyOff } from '../domains/json.ts'
import type { ShownDeps } from '../domains/json.ts'
import { ownNames } from '../domains/page-view.ts'
import { lookOf as lookOfDomain } from '../domains/status.ts'
import { keyOf } from '../edge/plan.ts'
import { reachedAt } from '../environments/json.ts'
import { hasPort } from '../environments/processes.ts'
import { environmentPath } from '../environments/paths.ts'
import { addressOf } from '../services/address.ts'
import { servicePath } from '../services/own-service.ts'
import { serverOf } from '../services/placement.ts'
import { statusOf } from '../services/shown.ts'
import { hostOf } from '../web/components.tsx'
import { serverNames } from '../runtime/on-engine.ts'
import type { ServerList } from '../runtime/on-engine.ts'
import { lookOfStatus } from '../web/status-badge.tsx'
import type { Look } from '../web/status-badge.tsx'
import { isServing, lookOfApp, notResponding, processesOf, ready } from './states.ts'
import type { MapProcess } from './states.ts'
import { listOwned } from './store.ts'
import type { Owned } from './store.ts'
import { counted } from '../web/units.ts'
import { readRates } from './traffic.ts'
import type { Rate } from './traffic.ts'

export type MapNode = {
  /**
   * The id of the domain, environment or service. An address without its own
   * row has a prefix and its app's or service's id.
   */
  id: string
  kind: 'domain' | 'app' | 'service'
  /** An environment's own name, without its project's. */
  name: string
  project: { id: string; name: string } | null
  /** The app or service that an address belongs to. */
  holder: string | null
  look: Look
  /** Details beside the state. */
  note: string | null
  /** The node's own page. */
  href: string
  /** Empty for all but apps. */
  processes: MapProcess[]
  traffic: Rate | null
}

/** `from` doesn't work without `to`. */
export type MapEdge = { from: string; to: string }

export type MapGraph = { nodes: MapNode[]; edges: MapEdge[] }

export type MapDeps = LiveDeps &
  ShownDeps & { logDb: LogDb; edge: { mode: string }; serverList: ServerList }

/** All domains, apps and services of a user with dependencies; domains of one app or service are adjacent. */
export function readGraph(deps: MapDeps, ownerId: string): MapGraph {
  const owned = listOwned(deps.db, ownerId)
  const known = { deps, owned, ownerId, rates: readRates(deps, owned) }
  const apps = appsOf(known)
  const services = servicesOf(known)
  const nodes = new Map([...apps, ...services].map((node) => [node.id, node]))
  const addresses = addressesOf(known, nodes)
  return {
    nodes: [...addresses.map(({ node }) => node), ...nodes.values()],
    edges: [
      ...addresses.flatMap(({ node, holder, isServed }) =>
        isServed ? [{ from: node.id, to: holder }] : [],
      ),
      ...owned.links.map(({ environmentId, serviceId }) => ({
        from: environmentId,
        to: serviceId,
      })),
    ],
  }
}

type GraphContext = {
  deps: MapDeps
  owned: Owned
  ownerId: string
  rates: ReturnType<typeof readRates>
}

function appsOf({ deps, owned, rates }: GraphContext): MapNode[] {
  const names = serverNames(deps)
  const projects = new Map(owned.projects.map((project) => [project.id, project]))
  const instances = Map.groupBy(owned.instances, ({ workloadId }) => workloadId)
  return owned.apps.map(({ environment, current, latest }) => {
    const project = projects.get(environment.projectId)!
    const own = instances.get(environment.id) ?? []
    const processes = processesOf(deps, environment, own)
    const { look, note } = lookOfApp({ current, latest, processes })
    return {
      id: environment.id,
      kind: 'app',
      name: environment.name,
      project,
      holder: null,
      look,
      note: note && [note, ...whereOf(names, own)].join(' '),
      href: environmentPath(environment),
      processes,
      traffic: rates.of(environment.id),
    }
  })
}

/** Servers that are named; of more only how many. */
const maxNamed = 2

/** Such as `on two, three`; nothing while there is one server. */
function whereOf(names: Map<string, string>, own: Owned['instances']) {
  const on = [...new Set(own.map(({ serverId }) => names.get(serverId)))].filter(Boolean)
  if (on.length === 0) return []
  return [`on ${on.length > maxNamed ? counted(on.length, 'server') : on.join(', ')}`]
}

function servicesOf({ deps, owned, rates }: GraphContext): MapNode[] {
  const instances = Map.groupBy(owned.instances, ({ workloadId }) => workloadId)
  const names = serverNames(deps)
  const whereIs = (id: string) => (names.has(id) ? `on ${names.get(id)}` : null)
  return owned.services.map((service) => ({
    id: service.id,
    kind: 'service',
    name: service.name,
    project: null,
    holder: null,
    look: lookOfStatus(statusOf(deps, service, instances.get(service.id))),
    note: [
      service.template === 'compose' ? 'Compose file' : service.template,
      service.version,
      whereIs(serverOf(service)),
    ]
      .filter(Boolean)
      .join(' '),
    href: servicePath(service),
    processes: [],
    traffic: rates.of(service.id),
  }))
}

/** `isServed` is false for a redirect that doesn't need the app or service. */
type Address = { node: MapNode; holder: string; isServed: boolean }

function addressesOf(known: GraphContext, holders: ReadonlyMap<string, MapNode>): Address[] {
  const { deps, owned, rates } = known
  const names = namesOf(known)
  const off = whyOff(deps)
  const rejected = leftOut(deps, names)
  const shown = domainsJson(deps, names, { expected: [] })
  const ofHolder = Map.groupBy(names.entries(), ([, domain]) => holderOf(domain))
  const apps = new Map(owned.apps.map((app) => [app.environment.id, app]))
  const ports = Map.groupBy(owned.ports, ({ serviceId }) => serviceId)
  const placed = new Map(owned.services.map((service) => [service.id, service]))
  return [...holders.values()].flatMap((holder) => {
    const own = [...(ofHolder.get(holder.id) ?? [])]
    const addresses = own.map(([at, domain]) => {
      const { redirectTo } = domain
      const look = lookOfDomain(shown[at]!, { off, rejected })
      const name = keyOf(domain.host, domain)
      return address(holder, {
        id: domain.id || `name-${holder.id}`,
        name,
        look,
        note: redirectTo === null ? null : `Redirects to ${redirectTo}`,
        traffic: rates.of(holder.id, name),
        isServed: redirectTo === null || leadsTo(redirectTo, own),
      })
    })
    const port = off !== null || own.length === 0 ? portOf(known, holder) : null
    return port ? [...addresses, port] : addresses
  })

  /** The published port, for an app or service that no name routes to. */
  function portOf({ ownerId }: GraphContext, holder: MapNode): Address | null {
    const url = holder.kind === 'app' ? urlOfApp(holder.id) : urlOfService(holder.id)
    if (url === null) return null
    return address(holder, {
      id: `port-${holder.id}`,
      name: hostOf(url),
      look: ready,
      note: null,
      traffic: rates.of(holder.id, new URL(url).port),
      isServed: true,
    })

    function urlOfApp(id: string) {
      const { environment, current } = apps.get(id)!
      if (!hasPort(environment) || !current) return null
      return reachedAt(deps, { environment, ownerId, published: current.url })
    }

    function urlOfService(id: string) {
      const published = (ports.get(id) ?? []).map(({ protocol, ...port }) => ({
        ...port,
        protocol: protocol === 'udp' ? protocol : ('tcp' as const),
      }))
      return published.length > 0
        ? addressOf(placesOf(deps, ownerId, serverOf(placed.get(id)!)), published)
        : null
    }
  }
}

/** Custom domains, and names under DAVIT_DOMAIN, in the order of each app's list. */
function namesOf({ deps, owned }: GraphContext): Domain[] {
  const environments = owned.apps.map(({ environment }) => environment)
  return [...owned.domains, ...(deps.edge.isOn ? ownNames(deps, environments) : [])]
}

const holderOf = ({ environmentId, serviceId }: Domain) => environmentId ?? serviceId!

/** A redirect works without its app, unless it points to another address of it. */
const leadsTo = (url: string, own: [number, Domain][]) =>
  own.some(([, { host, redirectTo }]) => redirectTo === null && host === URL.parse(url)?.hostname)

/** An address is only healthy if its app or service is, too. */
function address(
  holder: MapNode,
  {
    isServed,
    look,
    ...own
  }: Pick<MapNode, 'id' | 'name' | 'look' | 'note' | 'traffic'> & {
    isServed: boolean
  },
): Address {
  const isDown = isServed && look.tone === 'good' && !isServing(holder.look)
  const path = holder.kind === 'app' ? `/envs/${holder.id}` : `/services/${holder.id}`
  return {
    node: {
      ...own,
      kind: 'domain',
      project: holder.project,
      holder: holder.id,
      look: isDown ? notResponding(holder.look) : look,
      href: `${path}/domains`,
      processes: [],
    },
    holder: holder.id,
    isServed,
  }
}
