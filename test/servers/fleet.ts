import { watchContainers } from '../../src/containers/crash-loop.ts'
import type { Docker } from '../../src/docker/index.ts'
import { labelsFor } from '../../src/docker/labels.ts'
import { resume } from '../../src/serve.ts'
import { fillProjects } from '../bench/installation.ts'
import { atOnce, realClock } from '../interleavings/engine/at-once.ts'
import { fakeDocker } from '../interleavings/engine/docker.ts'
import { FakeEngine } from '../interleavings/engine/engine.ts'
import { simulatedApp } from '../support/app.ts'
import type { TestOverrides } from '../support/app.ts'
import { serverId, storeServers } from '../support/servers.ts'

const nothing = { containers: [], networks: [], volumes: [], images: [] }
const limits = { memoryBytes: 32 * 2 ** 20, cpus: 1, pidsLimit: 64 }
const image = 'davit/site:one'

function anEngine(n: number) {
  const engine = new FakeEngine(realClock, { ...nothing, made: n * 1000 })
  engine.serverId = serverId(n)
  engine.addImage({ tags: [image], command: ['sleep', '1000000'] })
  engine.networks.set('net', { id: 'net', name: 'net', subnet: '10.0.0.0/16', labels: {} })
  return engine
}

/** With what a server does all day: containers are measured, and write nothing. */
function connect(engine: FakeEngine): Docker {
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
  }
  return Object.assign(fakeDocker(engine, atOnce), daily)
}

/**
 * As many servers, Davit’s own among them, and apps of one admin with replicas over all of them. What the engines
 * of the others are asked is counted, by server and call; each takes as long to respond as `delay` says.
 */
export function aFleet(
  { servers, apps, replicas }: { servers: number; apps: number; replicas: number },
  overrides: TestOverrides & { delay?: (serverId: string) => Promise<void> } = {},
) {
  const { delay = async () => {}, ...rest } = overrides
  const asked = new Map<string, number>()
  const engines = Array.from({ length: servers }, (_, at) => anEngine(at + 1))
  const [docker, ...otherEngines] = engines.map((engine, at) => {
    const whole = connect(engine)
    return at === 0 ? whole : new Proxy(whole, { get: counted(engine) })
  })
  function counted({ serverId }: FakeEngine) {
    return (whole: Docker, name: keyof Docker) => {
      const call = whole[name] as unknown
      if (typeof call !== 'function' || /^(events|logSnapshot)$/.test(name)) return call
      return async (...args: unknown[]) => {
        asked.set(name, (asked.get(name) ?? 0) + 1)
        await delay(serverId)
        return call(...args)
      }
    }
  }
  const t = simulatedApp({}, { ...rest, docker: docker!, otherEngines })
  const root = t.logInAsAdmin()
  storeServers(
    t.db,
    Array.from({ length: servers }, () => ({})),
    (n) => `10.1.0.${n}`,
  )
  const sqlite = t.db.$client
  fillProjects(sqlite, { projects: apps, deployments: 2 * apps, ownerId: root.user.id })
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
          ...{ instanceId: t.deps.instanceId, kind: 'app', ownerId: root.user.id },
          ...{ projectId: project, environmentId: environment, deploymentId: id },
        })
        const name = `davit-${environment.slice(-6)}-web-${slot}`
        const container = engine.create({ ...limits, image, network: 'net', name, labels })
        engine.start(container)
        const row = Bun.randomUUIDv7()
        insert.run(row, id, environment, slot, engine.serverId, container, Date.now())
      }
  })()
  /** What Davit does in the background, until the signal. */
  const begin = (signal: AbortSignal) => [
    ...resume(t.deps, { signal }),
    watchContainers(t.deps, { signal }),
  ]
  return { ...t, root, engines, asked, begin, live }
}
