import { watchContainers } from '../../src/containers/crash-loop.ts'
import type { Docker } from '../../src/docker/index.ts'
import { resume } from '../../src/serve.ts'
import type { FakeEngine } from '../interleavings/engine/engine.ts'
import { simulatedApp } from '../support/app.ts'
import type { TestOverrides } from '../support/app.ts'
import { connect, fillFleet, fleetEngines } from './fleet-engines.ts'

/**
 * As many servers, Davit’s own among them, and apps of one admin with replicas over all of them. What the engines
 * of the others are asked is counted, by call; each takes as long to respond as `delay` says.
 */
export function aFleet(
  { servers, ...size }: { servers: number; apps: number; replicas: number },
  overrides: TestOverrides & { delay?: (serverId: string) => Promise<void> } = {},
) {
  const { delay = async () => {}, ...rest } = overrides
  const asked = new Map<string, number>()
  const engines = fleetEngines(servers)
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
  const { instanceId } = t.deps
  const live = fillFleet(t.db, { ...size, instanceId, ownerId: root.user.id, engines })
  /** What Davit does in the background, until the signal. */
  const begin = (signal: AbortSignal) => [
    ...resume(t.deps, { signal }),
    watchContainers(t.deps, { signal }),
  ]
  return { ...t, root, engines, asked, begin, live }
}
