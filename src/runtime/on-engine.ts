import { setTimeout as sleep } from 'node:timers/promises'
import { EngineError } from '../docker/index.ts'
import type { Engines } from '../docker/index.ts'
import type { Belonging } from '../docker/labels.ts'
import { firstServer } from '../platform/root.ts'
import { isNamed } from '../servers/store.ts'
import { hasVolumes } from './component.ts'
import type { Component } from './component.ts'
import { chooseServers } from './placement.ts'
import type { Server } from './placement.ts'
import type { Runtime } from './runtime.ts'
import type { Workload } from './workload.ts'

export type ServerList = {
  /** The one that Davit runs on is first. */
  list: () => Server[]
  /** How many containers each has. */
  count: () => Map<string, number>
  /** The ids of those with containers of it, also ones that will be removed. */
  holding: (of: Belonging, options?: { left: boolean }) => string[]
  /** The one that a workload’s volumes are on; null before it has any. */
  pinnedTo: (workloadId: string) => string | null
}

/** Milliseconds until a server is reached and its engine has said what its machine is. */
const timeoutMs = 10_000

/** Attempts to start, and milliseconds between them, where a server hasn’t heard of an overlay yet. */
const startTries = 10
const newsTime = 300

const isNetworkMissing = (error: unknown) =>
  error instanceof EngineError &&
  /network \S+ not found|could not attach to network/i.test(error.message)

/** Containers are created by the Docker of their server. */
function onEngine(engines: Engines, servers: ServerList): Runtime {
  const [own] = engines.all
  const machineOf = async (serverId: string) => {
    const signal = AbortSignal.timeout(timeoutMs)
    await engines.tried({ serverId }, { signal })
    return engines.of({ serverId }).machine({ signal })
  }
  const pinOf = ({ id, movesTo }: Workload, components: Component[]) =>
    movesTo ?? (hasVolumes(components) ? servers.pinnedTo(id) : null)
  return {
    async place(workload, components, beside = alone(components)) {
      const { placement = null } = workload
      const { components: all, serverId, others, leaving } = beside
      const isWhole = workload.kind === 'service' || workload.isWhole || hasVolumes(all)
      const pinned = pinOf(workload, all) ?? ((isWhole && serverId) || null)
      if (components.length === 0 || (pinned ?? (placement ? null : own.serverId)) === own.serverId)
        return components.map(() => own.serverId)
      const asked = servers.list().map(async ({ id }) => {
        const machine = await machineOf(id).catch(() => null)
        return [id, machine] as const
      })
      const machines = new Map(await Promise.all(asked))
      const counts = servers.count()
      const candidates = servers.list().map((server) => ({
        ...server,
        ...(server.id === leaving && { state: 'draining' as const }),
        containers: counts.get(server.id) ?? 0,
        machine: machines.get(server.id) ?? null,
      }))
      return chooseServers(candidates, {
        ...{ placement, components, isWhole, pinned, others },
        isPulled: workload.kind === 'service',
      })
    },
    isPlacedOn(workload, components, { serverId }) {
      const { placement } = workload
      const pinned = pinOf(workload, components)
      if (pinned !== null) return serverId === pinned
      if (!placement) return serverId === own.serverId
      const server = servers.list().find(({ id }) => id === serverId)
      return server?.state === 'ready' && isNamed(server, placement)
    },
    async create({ serverId, endpoints, files, ...options }) {
      const docker = engines.of({ serverId })
      const { aliases: networkAliases = options.networkAliases ?? [] } = endpoints[0] ?? {}
      const id = await docker.createContainer({ ...options, networkAliases })
      for (const { network, ...endpoint } of endpoints.slice(1))
        await docker.connectNetwork(network, { containerId: id, ...endpoint })
      if (files.length > 0) await docker.putArchive(id, { path: '/', files })
      return id
    },
    async start(one) {
      for (let tries = 1; ; tries++)
        try {
          return await engines.of(one).startContainer(one.id)
        } catch (error) {
          const isUnheard = one.serverId !== own.serverId && isNetworkMissing(error)
          if (!isUnheard || tries === startTries) throw error
          await sleep(newsTime)
        }
    },
    stop: (one, options) => engines.of(one).stopContainer(one.id, options),
    remove: (one) => engines.of(one).removeContainer(one.id, { force: true, volumes: true }),
  }
}

const alone = (components: Component[]) => ({ components, serverId: undefined })

/** While no other one has joined, none is stored. */
const single: Server[] = [
  {
    ...{ id: firstServer, name: 'this server', address: null, labels: {}, state: 'ready' },
    roles: ['apps', 'builds', 'edge'],
  },
]

/** By id; empty while there is only one, which no page names. */
export function serverNames({ serverList }: { serverList: ServerList }) {
  const all = serverList.list()
  return new Map(all.length > 1 ? all.map(({ id, name }) => [id, name]) : [])
}

/** What functions of the runtime need of Docker. */
export function onEngines(engines: Engines, stored?: ServerList) {
  const serverList: ServerList = {
    list() {
      const all = stored?.list() ?? []
      return all.length > 0 ? all : single
    },
    count: () => stored?.count() ?? new Map(),
    holding: (of, options) => stored?.holding(of, options) ?? [],
    pinnedTo: (id) => stored?.pinnedTo(id) ?? null,
  }
  return { engines, serverList, docker: engines.all[0], runtime: onEngine(engines, serverList) }
}
