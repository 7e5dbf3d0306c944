import { expect } from 'bun:test'
import type { Docker } from '../../src/docker/index.ts'
import { Failure } from '../../src/platform/errors.ts'
import { atOnce, realClock } from '../interleavings/engine/at-once.ts'
import { fakeDocker } from '../interleavings/engine/docker.ts'
import { FakeEngine } from '../interleavings/engine/engine.ts'
import { simulatedApp, wrapped } from '../support/app.ts'
import type { Interposed, TestOverrides } from '../support/app.ts'

type State = Awaited<ReturnType<Docker['swarmState']>>
type Info = Awaited<ReturnType<Docker['info']>>

/** What each of a machine's calls changed, in order, and where its next call fails. */
export class Machine {
  calls: string[] = []
  failing = ''
  info: Partial<Info> = {}
  state: State
  nodes = new Map<string, boolean>()
  /** Of the swarm that it manages. */
  labels: Record<string, string> = {}
  /** Looks at its members before they are ready. */
  slowness = 0
  unreachable: Error | null = null
  /** Of the swarm that it joins. */
  manager: Machine | null = null
  readonly engine = new FakeEngine(realClock)

  constructor(hostname: string) {
    this.state = {
      ...{ engineId: hostname, hostname, isMember: false, isManager: false, nodeId: '' },
      ...{ address: '', managers: [], hasOverlay: true, hasLiveRestore: false },
    }
  }

  #change(call: string, work: () => void) {
    this.calls.push(call)
    if (this.failing === call) throw new Failure('engine_unreachable', 'It is away.', 'Wait.')
    work()
  }

  docker(): Docker {
    const fake = fakeDocker(this.engine, atOnce)
    const { info } = fake
    const own: Partial<Docker> = {
      swarmState: async () => {
        if (this.unreachable) throw this.unreachable
        return { ...this.state }
      },
      info: async () => ({ ...(await info()), version: '28.5.2', ...this.info }),
      beginSwarm: async ({ address, labels }) => {
        this.#change('begin', () => {
          this.labels = labels
          Object.assign(this.state, { isMember: true, isManager: true, nodeId: 'own', address })
        })
        return 'own'
      },
      getSwarm: async () => ({ labels: this.labels, workerToken: 'SWMTKN', lasts: 0, root: '' }),
      listNodes: async () => [],
      joinSwarm: async ({ address, manager, token }) =>
        this.#change('join', () => {
          expect([manager, token]).toEqual(['10.0.0.1', 'SWMTKN'])
          const nodeId = `node ${address}`
          Object.assign(this.state, { isMember: true, nodeId, address, managers: [manager] })
          this.manager?.nodes.set(nodeId, true)
        }),
      leaveSwarm: async () =>
        this.#change('leave', () => {
          this.labels = {}
          this.nodes.clear()
          Object.assign(this.state, { isMember: false, isManager: false, nodeId: '', managers: [] })
        }),
      getNode: async (id) =>
        this.nodes.has(id)
          ? { isReady: this.nodes.get(id)! && this.slowness-- <= 0, isDown: !this.nodes.get(id) }
          : null,
      removeNode: async (id) => {
        this.#change(`remove ${id}`, () => this.nodes.delete(id))
        return true
      },
    }
    return Object.assign(fake, own)
  }
}

const key = { sshUser: 'davit', sshKey: 'a secret key', hostKey: 'ssh-ed25519 AAAA root@two' }
const two = { name: 'two', address: '10.0.0.2', ...key }

export function aPair() {
  const [own, other] = [new Machine('one'), new Machine('other')]
  other.manager = own
  return { own, other }
}

type Pair = ReturnType<typeof aPair>

/** `over` stands between Davit and their engines. */
type PairOptions = TestOverrides & { pair?: Pair; over?: Interposed; admin?: string }

/** Davit on the first of two. */
export function twoMachines(
  { address = '10.0.0.1', ...env }: Record<string, string> = {},
  { pair = aPair(), over, admin, ...overrides }: PairOptions = {},
) {
  const { own, other } = pair
  const asked: object[] = []
  const reach = (docker: Docker) => (over ? wrapped(docker, over) : docker)
  const t = simulatedApp(address ? { ...env, DAVIT_CLUSTER_ADDRESS: address } : env, {
    docker: reach(own.docker()),
    connectServer: (options = {}) => {
      asked.push(options)
      other.engine.serverId = options.serverId!
      return reach(other.docker())
    },
    ...overrides,
  })
  const root = t.logInAsAdmin(admin)
  const add = (body: object = {}) => root.post('/settings/servers', { ...two, ...body })
  return { ...{ t, root, own, other, asked, add } }
}
