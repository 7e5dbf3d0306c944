import { setTimeout as sleep } from 'node:timers/promises'
import type { Deps } from '../../src/assemble.ts'
import type { FakeEngine } from './engine/engine.ts'
import type { FakeContainer } from './engine/state.ts'
import type { Connection, Schedule } from './schedule.ts'

/** The addresses that each key leads to, none where it leads to a page. They outlive Davit, as files do. */
export type Led = Map<string, string[]>

/** Has a Davit lead requests by an edge that no Caddy is needed for, from its start on. */
export function leadBy(
  led: Led,
  { edge, routing }: Deps,
  { connection, schedule }: { connection: Connection; schedule: Schedule },
) {
  /** What a Davit that was killed does then doesn't count. */
  const ifAlive = (work: () => void) => void (connection.isCut || work())
  Object.defineProperty(edge, 'mode', { value: 'caddy' })
  Object.assign(edge, {
    route: (key, to) => ifAlive(() => led.set(key, typeof to === 'string' ? [] : to)),
    routeShare: (key, _, to) =>
      ifAlive(() => led.set(key, [...new Set([...to.new, ...to.before])])),
    forget: (key) => ifAlive(() => led.delete(key)),
    keep: (keys) => {
      const kept = new Set(keys)
      for (const key of led.keys()) if (!kept.has(key)) ifAlive(() => led.delete(key))
    },
    async drained(_, { seconds, signal }) {
      await sleep(Math.min(schedule.random.pick([0, 1, 90]), seconds) * 1000, undefined, { signal })
      return true
    },
  } satisfies Partial<Deps['edge']>)
  routing.routeAll()
}

/** Where a container is reached that runs. */
export const addressesOf = ({ endpoints }: FakeContainer) =>
  [...endpoints.values()].flatMap(({ address }) => address ?? [])

/** Has an engine say which container it is about to stop. */
export function beforeStops(engine: FakeEngine, tell: (container: FakeContainer) => void) {
  const { stop, remove } = engine
  engine.stop = (id) => (tell(engine.container(id)), stop.call(engine, id))
  engine.remove = (id, how) => (tell(engine.container(id)), remove.call(engine, id, how))
}

/** Whether something runs at an address. */
export const isReached = ({ containers }: FakeEngine, address: string) =>
  containers.values().some((one) => addressesOf(one).includes(address))

/** Keys by which requests reach a container. */
export const keysTo = (led: Led, container: FakeContainer) => {
  const own = addressesOf(container)
  return [...led].flatMap(([key, to]) =>
    to.some((address) => own.includes(address.split(':')[0]!)) ? key : [],
  )
}
