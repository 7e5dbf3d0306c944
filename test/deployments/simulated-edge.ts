import { onTestFinished } from 'bun:test'
import { watchContainers } from '../../src/containers/crash-loop.ts'
import { apps } from '../../src/deployments/observe.ts'
import { excludeEnded } from '../../src/runtime/exclude-ended.ts'
import { watchWorkloads } from '../../src/runtime/observe.ts'
import { simulatedApp } from '../support/app.ts'

type Route = string | string[] | { percent: number; new: string[]; before: string[] }

/** The product on the simulated engine, behind an edge that only notes where requests lead. */
export function appBehindEdge({ watchSeconds = 600 } = {}) {
  const t = simulatedApp({}, { config: { watchSeconds } })
  t.watched.setCountedUntil(Infinity) // it logs no requests
  t.watched.loggedWithin = 0
  const routes = new Map<string, Route>()
  Object.defineProperty(t.edge, 'mode', { value: 'caddy', configurable: true })
  Object.assign(t.edge, {
    route: (key, to) => void routes.set(key, to),
    routeShare: (key, { percent }, to) => void routes.set(key, { percent, ...to }),
    forget: (key) => void routes.delete(key),
    drained: async () => true,
  } satisfies Partial<typeof t.edge>)
  const abort = new AbortController()
  const { signal } = abort
  const work = [
    excludeEnded(t.deps, { signal }),
    watchWorkloads(t.deps, apps, { signal }),
    watchContainers(t.deps, { signal }),
    t.feed.run(t.deps.docker, { signal }),
  ]
  onTestFinished(async () => {
    abort.abort()
    await Promise.all(work)
  })
  return Object.assign(t, { routes })
}
