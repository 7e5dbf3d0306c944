import { PassThrough, Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import type { Docker } from '../../src/docker/index.ts'
import { Failure } from '../../src/platform/errors.ts'
import { getMove } from '../../src/runtime/move-store.ts'
import { pinnedTo } from '../../src/runtime/pins.ts'
import { listLiveInstances } from '../../src/runtime/store.ts'
import { SimulatedRestic } from '../backups/simulated-restic.ts'
import { atOnce, realClock } from '../interleavings/engine/at-once.ts'
import { fakeDocker } from '../interleavings/engine/docker.ts'
import { FakeEngine } from '../interleavings/engine/engine.ts'
import { idle, made } from '../services/instances.ts'
import { simulatedApp } from '../support/app.ts'
import { aProject } from '../deployments/apps.ts'
import type { TestApp } from '../support/app.ts'
import type { TestClient } from '../support/client.ts'
import { serverId, storeServers } from '../support/servers.ts'

export const second = serverId(2)

type PipedOptions = Parameters<Docker['runPiped']>[0]

/** A simulated engine whose volumes have a text each, which its carriers send and receive. */
class Machine {
  readonly engine: FakeEngine
  readonly contents = new Map<string, string>()
  /** Runs before a carrier does anything. */
  before: (carries: 'in' | 'out', signal: AbortSignal) => Promise<void> = async () => {}
  /** What arrives, which a bad disk may change. */
  stored = (content: string) => content

  constructor(id: string, made: number) {
    const nothing = { containers: [], networks: [], volumes: [], images: [] }
    this.engine = new FakeEngine(realClock, { ...nothing, made })
    this.engine.serverId = id
  }

  docker(): Docker {
    const docker = fakeDocker(this.engine, atOnce)
    const { removeVolume } = docker
    return Object.assign(docker, {
      runPiped: (options: PipedOptions) => this.#carry(options),
      swarmState: async () => ({ hostname: 'server1', nodeId: '', isMember: true }),
      removeVolume: async (...args: Parameters<typeof removeVolume>) => {
        const isRemoved = await removeVolume(...args)
        if (!this.engine.volumes.has(args[0])) this.contents.delete(args[0])
        return isRemoved
      },
    })
  }

  async #carry({ volumes = [], stdin, stdout, ...options }: PipedOptions) {
    const signal = options.signal ?? new AbortController().signal
    const names = volumes.map(({ name }) => name)
    await this.before(stdin ? 'in' : 'out', signal)
    if (stdin) {
      for (const name of names) this.contents.set(name, 'half of it')
      const to = new PassThrough()
      const read = text(to)
      await stdin(to, signal, 'carrier')
      to.end()
      for (const [name, content] of JSON.parse(await read))
        this.contents.set(name, this.stored(content))
    } else {
      const all = names.map((name) => [name, this.contents.get(name) ?? ''])
      await stdout?.(Readable.from([Buffer.from(JSON.stringify(all))]), signal)
    }
    return { exitCode: 0, oomKilled: false, stderr: '' }
  }

  get up() {
    return [...this.engine.containers.values()].filter(({ state }) => state === 'running').length
  }

  get volumes() {
    return [...this.engine.volumes.keys()].map((name) => this.contents.get(name)).sort()
  }
}

export type Wrap = (docker: Docker) => Docker

const asIs: Wrap = (docker) => docker

/** Two containers, with a volume that both mount, and another one. */
const compose = `
services:
  one: { ${idle}, volumes: ["data:/data"] }
  two: { ${idle}, volumes: ["data:/data", "more:/var/more"] }
volumes: { data: {}, more: {} }
`

/** The same as an environment of a project. */
async function anApp(t: TestApp, ada: TestClient) {
  const files = { Dockerfile: 'FROM busybox\nCMD ["sleep", "999"]\n' }
  const processes = [{ name: 'web' }, { name: 'worker', command: 'sleep 999' }]
  const settings = { port: 0, volumes: ['data:/data', 'more:/var/more'], processes }
  const project = await aProject(t, ada, files, settings)
  const { status, error } = await project.deploy()
  if (status !== 'running') throw new Error(JSON.stringify(error))
  await t.jobs.idle()
  return { ...project, id: project.environmentId, projectId: project.id }
}

type Options = Partial<{ wrap: Wrap; kind: 'service' | 'environment'; atEnd: () => void }>

/** Two servers, the second of which is empty, and a service or an environment with volumes on the first. */
export async function twoServers({ wrap = asIs, kind = 'service', ...more }: Options = {}) {
  const [own, other] = [new Machine(serverId(1), 0), new Machine(second, 1000)]
  own.engine.addImage({ tags: ['busybox:latest'], command: ['sleep', '999'] })
  own.engine.addImage({ tags: ['restic/restic:0.18.0'], command: ['sleep', '999'] })
  Object.assign(other.engine, { networks: own.engine.networks })
  const restic = new SimulatedRestic()
  let failing: keyof Docker | null = null
  const faulty = (docker: Docker) =>
    new Proxy(docker, {
      get(whole, name: keyof Docker) {
        if (name !== failing) return whole[name]
        return async () => {
          throw new Failure('disk_full', 'There is no room.', 'Make some.')
        }
      },
    })
  const start = (wrap: Wrap, more: object = {}) =>
    simulatedApp(
      {},
      {
        ...{ docker: wrap(own.docker()), otherEngines: [wrap(faulty(other.docker()))] },
        ...{ openRestic: restic.open, ...more },
      },
    )
  const t = start(wrap, more)
  storeServers(t.db, [{}, {}])
  const ada = t.logIn('ada@example.com')
  const subject: { id: string; projectId?: string } =
    kind === 'service' ? await made(t, ada, compose) : await anApp(t, ada)
  const names = [...own.engine.volumes.keys()]
  for (const name of names) own.contents.set(name, `all of ${name}`)
  const { id } = subject
  return {
    ...{ t, ada, own, other, restic, subject, start },
    path: kind === 'service' ? `/services/${id}/move` : `/envs/${id}/move`,
    workload: { id, kind: kind === 'service' ? ('service' as const) : ('app' as const) },
    /** What its volumes have. */
    all: names.map((name) => `all of ${name}`).sort(),
    /** Lets a call at the second server fail. */
    fail: (call: keyof Docker | null) => (failing = call),
    /** What each server runs and has, and where the database says that it is. */
    state: () => ({
      up: [own.up, other.up],
      volumes: [own.volumes, other.volumes],
      live: [...new Set(listLiveInstances(t.db, id).map(({ serverId }) => serverId))],
      pinned: pinnedTo(t.db, id),
      leftOn: getMove(t.db, id)?.leftOn ?? null,
    }),
  }
}
