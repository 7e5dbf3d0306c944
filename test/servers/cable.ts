import type { Docker } from '../../src/docker/index.ts'
import type { LogEntry } from '../../src/docker/log-entries.ts'
import { Failure } from '../../src/platform/errors.ts'
import { atOnce, realClock } from '../interleavings/engine/at-once.ts'
import { fakeDocker } from '../interleavings/engine/docker.ts'
import { FakeEngine } from '../interleavings/engine/engine.ts'
import { serverId } from '../support/servers.ts'

/** The engine of another server whose cable a test can pull. */
export function anotherServer() {
  const nothing = { containers: [], networks: [], volumes: [], images: [] }
  const engine = new FakeEngine(realClock, { ...nothing, made: 1000 })
  engine.serverId = serverId(2)
  engine.addImage({ tags: ['busybox:latest'], command: ['sleep', '99'] })
  engine.networks.set('none', { id: 'none', name: 'none', subnet: '10.0.0.0/24', labels: {} })
  return connectTo(engine, [])
}

/** `written` is what its only container wrote. */
function connectTo(engine: FakeEngine, written: LogEntry[]) {
  const cable = { isPulled: false, calls: 0, logins: 0, pullAfter: '', cut: () => {} }
  const refuse = () => {
    if (cable.isPulled) throw new Failure('engine_unreachable', 'It has no power.', 'Wait.')
  }
  const pull = () => {
    cable.isPulled = true
    cable.cut()
  }
  async function* logSnapshot(_: string, { tail = Infinity }: { tail?: number | undefined }) {
    cable.calls++
    for (const entry of written.slice(-tail)) {
      refuse()
      yield [entry]
      if (entry.text === cable.pullAfter) pull()
    }
    refuse()
  }
  const waitForOutput: Docker['waitForOutput'] = (_, { signal }) =>
    new Promise((resolve) => signal.addEventListener('abort', () => resolve(false)))
  const docker = new Proxy(Object.assign(fakeDocker(engine, atOnce), { waitForOutput }), {
    get(whole, name: keyof Docker) {
      if (name === 'logSnapshot') return logSnapshot
      const call = whole[name]
      if (typeof call !== 'function') return call
      if (name === 'events')
        return async function* ({ signal, ...options }: Parameters<Docker['events']>[0] = {}) {
          cable.logins++
          refuse()
          const cut = new AbortController()
          cable.cut = () => cut.abort(new Failure('engine_unreachable', 'Cut.', 'Wait.'))
          const either = signal ? AbortSignal.any([signal, cut.signal]) : cut.signal
          yield* whole.events({ ...options, signal: either })
          signal?.throwIfAborted()
          throw new Failure('engine_unreachable', 'The cable was pulled.', 'Wait.')
        }
      return async (...args: never[]) => {
        cable.calls++
        refuse()
        return (call as (...args: never[]) => unknown)(...args)
      }
    },
  })
  const write = (text: string) =>
    void written.push({
      ...{ stream: 'stdout', text, ended: true },
      timestamp: new Date().toISOString().replace('Z', '000000Z'),
    })
  /** Another connection to the same Docker, as of a server that is added again. */
  const again = (id: string) => {
    engine.serverId = id
    return connectTo(engine, written)
  }
  return { engine, docker, cable, pull, write, again }
}
