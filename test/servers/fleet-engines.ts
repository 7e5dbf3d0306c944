import type { Db } from '../../src/db/index.ts'
import type { Docker } from '../../src/docker/index.ts'
import { labelsFor } from '../../src/docker/labels.ts'
import { fillProjects } from '../bench/installation.ts'
import { atOnce, realClock } from '../interleavings/engine/at-once.ts'
import { fakeDocker } from '../interleavings/engine/docker.ts'
import { FakeEngine } from '../interleavings/engine/engine.ts'
import { serverId, storeServers } from '../support/servers.ts'

const nothing = { containers: [], networks: [], volumes: [], images: [] }
const limits = { memoryBytes: 32 * 2 ** 20, cpus: 1, pidsLimit: 64 }
const image = 'davit/site:one'

export const fleetEngines = (count: number) =>
  Array.from({ length: count }, (_, at) => anEngine(at + 1))

function anEngine(n: number) {
  const engine = new FakeEngine(realClock, { ...nothing, made: n * 1000 })
  engine.serverId = serverId(n)
  engine.addImage({ tags: [image], command: ['sleep', '1000000'] })
  engine.networks.set('net', { id: 'net', name: 'net', subnet: '10.0.0.0/16', labels: {} })
  return engine
}

/** With what a server does all day: containers are measured, and write nothing. */
export function connect(engine: FakeEngine): Docker {
  const began = performance.now()
  const counters = { memoryLimit: 2 ** 31, received: 0, sent: 0, read: 0, written: 0 }
  const daily: Partial<Docker> = {
    async *logSnapshot() {},
    waitForOutput: (_, { signal }) =>
      new Promise((resolve) => signal.addEventListener('abort', () => resolve(false))),
    containerStats: async () => {
      const nanoseconds = (performance.now() - began) * 1e6
      const cpu = { cpuTotal: nanoseconds / 100, systemCpu: 2 * nanoseconds, onlineCpus: 2 }
      return { ...counters, ...cpu, readAt: new Date(), memory: 12 * 2 ** 20, pids: 3 }
    },
    whyUncapped: async () => null,
    swarmState: async () => ({
      ...{ engineId: engine.serverId, hostname: 'server1', isMember: true, isManager: true },
      ...{
        nodeId: 'node1',
        address: '10.1.0.1',
        managers: [],
        hasOverlay: true,
        hasLiveRestore: false,
      },
    }),
    listNodes: async () => [
      { id: 'node1', hostname: 'server1', isManager: true, isReachable: true, isReady: true },
    ],
  }
  return Object.assign(fakeDocker(engine, atOnce), daily)
}

type Fleet = {
  instanceId: string
  ownerId: string
  engines: FakeEngine[]
  apps: number
  replicas: number
}

/** Stores servers and apps, whose replicas run on all of them in turn. Returns the apps. */
export function fillFleet(db: Db, { instanceId, ownerId, engines, apps, replicas }: Fleet) {
  storeServers(
    db,
    engines.map(() => ({})),
    (n) => `10.1.0.${n}`,
  )
  const sqlite = db.$client
  fillProjects(sqlite, { projects: apps, deployments: 2 * apps, ownerId })
  sqlite.run(`UPDATE deployments SET status = 'running' WHERE status = 'stopped'`)
  sqlite.run(`DELETE FROM instances WHERE state = 'stopped'`)
  const live = sqlite
    .query<{ id: string; environment: string; project: string }, []>(
      `SELECT id, environment_id AS environment, project_id AS project FROM deployments WHERE status = 'running'`,
    )
    .all()
  const insert = sqlite.query(
    `INSERT INTO instances (id, release_id, workload_id, component, slot, server_id, container_id, state, created_at)
     VALUES (?, ?, ?, 'web', ?, ?, ?, 'live', ?)`,
  )
  let at = 0
  sqlite.transaction(() => {
    for (const { id, environment, project } of live)
      for (let slot = 0; slot < replicas; slot++) {
        const engine = engines[at++ % engines.length]!
        const labels = labelsFor({
          ...{ instanceId, kind: 'app', ownerId, projectId: project },
          ...{ environmentId: environment, deploymentId: id },
        })
        const name = `davit-${environment.slice(-6)}-web-${slot}`
        const container = engine.create({ ...limits, image, network: 'net', name, labels })
        engine.start(container)
        const row = Bun.randomUUIDv7()
        insert.run(row, id, environment, slot, engine.serverId, container, Date.now())
      }
  })()
  return live
}
