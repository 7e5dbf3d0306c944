import type { Overrides } from '../../src/assemble.ts'
import type { Db } from '../../src/db/index.ts'
import type { Docker } from '../../src/docker/index.ts'
import type { Secrets } from '../../src/platform/secrets.ts'
import { updateServer } from '../../src/servers/store.ts'
import { serverId, storeServers } from '../support/servers.ts'
import { fakeDocker } from './engine/docker.ts'
import type { Pace } from './engine/docker.ts'
import { FakeEngine } from './engine/engine.ts'
import type { FakeContainer } from './engine/state.ts'
import type { Connection, Schedule } from './schedule.ts'
import { unreachable } from './schedule.ts'

/** Milliseconds after which a swarm calls a server down of which it hears nothing. */
const heardWithin = 15_000

/** What the pages of servers show, which no order looks at. */
export const noServers = {
  giveUp() {},
  previewDrain: async () => [],
  useOf: () => ({ cpu: 0, memory: 0 }),
}

const nothing = { containers: [], networks: [], volumes: [], images: [] }

/** What befell it: no power, a cut cable, or an sshd that refuses, so that the swarm still hears of it. */
export type Fault = 'dead' | 'cut' | 'refused'

export class OtherServer {
  readonly id: string
  readonly address: string
  readonly engine: FakeEngine
  fault: Fault | null = null
  since = 0
  readonly waits = new Set<(error: Error) => void>()

  constructor(schedule: Schedule, own: FakeEngine, n: number) {
    this.id = serverId(n)
    this.address = `198.51.100.${n}`
    this.engine = new FakeEngine(schedule, { ...nothing, made: 1_000_000 * n })
    this.engine.serverId = this.id
    Object.assign(this.engine, { networks: own.networks }) // overlays are the same on all
  }
}

/** The servers beside Davit’s own, and what their swarm knows. They outlive Davit. */
export class Fleet {
  readonly others: OtherServer[]
  readonly #schedule: Schedule

  constructor(schedule: Schedule, own: FakeEngine) {
    this.#schedule = schedule
    this.others = [2, 3].map((n) => new OtherServer(schedule, own, n))
  }

  /** As after their joins: the first is at home, the others are away from it. */
  store(db: Db, secrets: Secrets) {
    storeServers(db, [{ zone: 'home' }, { zone: 'away' }, { zone: 'away' }])
    for (const { id } of this.others)
      updateServer(db, id, {
        ...{ ssh: `ssh://davit@${id}:22`, hostKey: 'AAAA' },
        privateKey: secrets.seal('key', `server ${id} key`),
      })
  }

  /** How a Davit reaches them. */
  connect(connection: Connection, docker: Docker): Overrides {
    const node = (id: string) => {
      const other = this.others.find((one) => id === `node${one.id.at(-1)}`)
      const isGone = other?.fault === 'dead' || other?.fault === 'cut'
      const isDown = isGone && this.#schedule.now() - other!.since >= heardWithin
      return { isReady: !isDown, isDown }
    }
    Object.assign(docker, {
      getNode: (id: string) => connection.turn(`node ${id}`, {}, () => node(id)),
    } satisfies Partial<Docker>)
    return {
      connectServer: ({ serverId: id } = {}) => {
        const other = this.others.find((one) => one.id === id)!
        return fakeDocker(other.engine, linkTo(other, connection))
      },
    }
  }

  befall(other: OtherServer, fault: Fault) {
    if (other.fault === 'dead') return
    Object.assign(other, { fault, since: this.#schedule.now() })
    for (const fail of [...other.waits]) fail(unreachable())
  }

  /** What it ran starts again where that was without power. */
  recover(other: OtherServer) {
    if (other.fault === 'dead') other.engine.reboot()
    other.fault = null
  }

  isReached = (address: string) =>
    this.others.some((one) => one.address === address && canAnswer(one))

  /** Containers of apps on all of them. */
  containers = () =>
    this.others.flatMap((other) =>
      [...other.engine.containers.values()].map((container) => ({ other, container })),
    )
}

const canAnswer = ({ fault, engine }: OtherServer) =>
  fault !== 'dead' &&
  fault !== 'cut' &&
  engine.containers.values().some(({ state }) => state === 'running')

/** Where the edge reaches a container of another server. */
export const portsOf = ({ held }: FakeContainer) =>
  held.map(({ address, host }) => `${address}:${host}`)

const linkTo = (other: OtherServer, connection: Connection): Pace => ({
  hungUp: unreachable,
  turn: (call, options, work) =>
    connection.turn(`${other.address}: ${call}`, options, () => {
      if (other.fault) throw unreachable()
      return work()
    }),
  wait: (options, begin) =>
    connection.wait(options, (done, fail) => {
      other.waits.add(fail)
      const giveUp = begin(done, fail)
      return () => {
        other.waits.delete(fail)
        giveUp()
      }
    }),
})
