import { atOnce, realClock } from '../interleavings/engine/at-once.ts'
import { fakeDocker } from '../interleavings/engine/docker.ts'
import { FakeEngine } from '../interleavings/engine/engine.ts'
import { serverId } from './servers.ts'

/** The empty engine of the nth server, where nothing has an id that something has on Davit's own. */
export function otherEngine(n = 2) {
  const nothing = { containers: [], networks: [], volumes: [], images: [] }
  const engine = new FakeEngine(realClock, { ...nothing, made: 1000 * (n - 1) })
  engine.serverId = serverId(n)
  return { engine, docker: fakeDocker(engine, atOnce) }
}
