import { EngineError } from '../../../src/docker/index.ts'
import type { BuildOutput, Docker, EngineEvent } from '../../../src/docker/index.ts'
import { behaviourOf } from './state.ts'
import { imageCalls } from './images.ts'
import { pause, unpause } from './pause.ts'
import type { FakeEngine } from './engine.ts'
import { joinNetwork, leaveNetwork } from './addresses.ts'
import { containerView, diskUseOf, passes, summaryView, useOf } from './views.ts'

type Abortable = { signal?: AbortSignal | undefined }

/** How calls come to the engine, and its answers back. */
export type Pace = {
  /** Does the work when its turn comes; its answer may come later, or never. Rejects when the signal aborts. */
  turn: <T>(call: string, options: Abortable & { changes?: boolean }, work: () => T) => Promise<T>
  /** Rejects when the connection breaks. `begin` gets what ends the wait, and answers how to give it up. */
  wait: <T>(
    options: Abortable,
    begin: (done: (value: T) => void, fail: (error: Error) => void) => () => void,
  ) => Promise<T>
  /** What a broken connection is told by. */
  hungUp: () => Error
}

/** Decides what a build comes to: the image's command and health test, or an error. */
export type Builder = (tag: string) => { command: string[]; health?: string[] | null }

/** A connection to a fake engine with all that the product asks of one; the rest throws. */
export function fakeDocker(
  engine: FakeEngine,
  pace: Pace,
  build: Builder = () => ({ command: ['sleep', '1000000'] }),
): Docker {
  const get = <T>(call: string, options: Abortable, work: () => T) => pace.turn(call, options, work)
  const put = <T>(call: string, options: Abortable, work: () => T) =>
    pace.turn(call, { ...options, changes: true }, work)
  /** False where its object is not there. */
  const unlessMissing = (work: () => void) => () => {
    try {
      return (work(), true)
    } catch (error) {
      if (error instanceof EngineError && error.status === 404) return false
      throw error
    }
  }
  const short = (id: string) => engine.containers.get(id)?.name ?? id.slice(0, 12)

  const known: Partial<Docker> = {
    serverId: engine.serverId,
    remote: true, // nothing reaches an address of a fake container
    whyApart: async () => 'remote',
    info: (options = {}) =>
      get('info', options, () => ({ ...info, time: new Date(engine.clock.now()) })),
    machine: (options = {}) => get('machine', options, () => info),
    frontend: ({ signal }) => get('frontend', { signal }, () => frontend),
    events,

    buildImage,
    async *pullImage(ref, options = {}) {
      await put(`pull ${ref}`, options, () => {
        if (!engine.image(ref)) engine.addImage({ tags: [ref], command: ['sleep', '1000000'] })
      })
    },
    ...imageCalls(engine, { get, put, unlessMissing }),

    createContainer: ({ signal, ...options }) =>
      put(`create ${options.name}`, { signal }, () => engine.create(options)),
    startContainer: (id, options = {}) =>
      put(`start ${short(id)}`, options, () => engine.start(id)),
    stopContainer: (id, options = {}) =>
      put(
        `stop ${short(id)}`,
        options,
        unlessMissing(() => engine.stop(id)),
      ),
    pauseContainer: (id, options = {}) =>
      put(`pause ${short(id)}`, options, () => pause(engine, id)),
    unpauseContainer: (id, options = {}) =>
      put(`unpause ${short(id)}`, options, () => unpause(engine, id)),
    restartContainer: (id, options = {}) =>
      put(
        `restart ${short(id)}`,
        options,
        unlessMissing(() => engine.restart(id)),
      ),
    removeContainer: (id, { force = false, ...options } = {}) =>
      put(
        `remove ${short(id)}`,
        options,
        unlessMissing(() => engine.remove(id, { force })),
      ),
    putArchive: (id, { files, signal }) =>
      put(`put into ${short(id)}`, { signal }, () => {
        engine.container(id).files.push(...files.map(({ path }) => path))
      }),
    inspectContainer: (id, options = {}) => get(`inspect ${short(id)}`, options, () => look(id)),
    inspectEnded: (id, options = {}) => get(`inspect ${short(id)}`, options, () => look(id)),
    untilHealthTestPasses,
    listContainers: ({ labels = [], all = false, ...options } = {}) =>
      get(`list ${labels.slice(1).join(' ')}`, options, () =>
        [...engine.containers.values()]
          .filter(({ state }) => all || state === 'running')
          .map((one) => summaryView(engine, one))
          .filter((one) => passes(one.labels, labels))
          .reverse(),
      ),
    endLeftTerminals: (id, options = {}) => get(`terminals of ${short(id)}`, options, () => {}),
    async waitForExit(id, options = {}) {
      await get(`wait for ${short(id)}`, options, () => void engine.container(id))
      const container = engine.container(id)
      await pace.wait<void>(options, (done) => engine.onEnd(id, done))
      return { exitCode: container.exitCode }
    },
    setRestartPolicy: (id, policy, options = {}) =>
      put(`update ${short(id)} ${policy.name}`, options, () => engine.setPolicy(id, policy)),
    async *containerLogs(id, { follow = false, ...options } = {}) {
      yield* logSnapshot(id, options)
      if (follow) await pace.wait<void>(options, (done) => engine.onEnd(id, done))
    },
    logSnapshot,
    async waitForOutput(id, options) {
      await pace.wait<void>(options, (done) => engine.onEnd(id, done))
      return false
    },

    rootSpace: ({ signal }) => get('space', { signal }, () => engine.space),
    diskUse: (options = {}) => get('disk use', options, () => diskUseOf(engine)),
    removeBuildCache: (_, options = {}) => get('remove build cache', options, () => null),

    listNetworks: ({ labels = [], ...options } = {}) =>
      get('list networks', options, () =>
        [...engine.networks.values()]
          .filter((one) => passes(one.labels, labels))
          .map(({ id, name, labels, subnet }) => ({
            id,
            name,
            driver: 'bridge',
            labels,
            isEncrypted: false,
            subnets: [subnet],
          })),
      ),
    networkUse: (name, options = {}) => get(`use of ${name}`, options, () => useOf(engine, name)),
    createNetwork: ({ signal, ...options }) =>
      put(`create network ${options.name}`, { signal }, () => engine.createNetwork(options)),
    removeNetwork: (id, options = {}) =>
      put(
        'remove network',
        options,
        unlessMissing(() => engine.removeNetwork(id)),
      ),
    listJoined: (name, { labels = [], ...options } = {}) =>
      get(`containers on ${name}`, options, () =>
        [...engine.containers.values()]
          .filter(({ options, endpoints }) => {
            const network = engine.network(name)
            return network && endpoints.has(network.name) && passes(options.labels ?? {}, labels)
          })
          .map(({ id }) => id),
      ),
    connectNetwork: (name, { containerId, address, aliases, signal }) =>
      put(`join ${short(containerId)} to ${name}`, { signal }, () =>
        joinNetwork(engine, { name, containerId, address, aliases }),
      ),
    disconnectNetwork: (name, { containerId, signal }) =>
      put(
        `take ${short(containerId)} off ${name}`,
        { signal },
        unlessMissing(() => leaveNetwork(engine, { name, containerId })),
      ),
    usedSubnets: (options = {}) =>
      get('used subnets', options, () => [...engine.networks.values()].map(({ subnet }) => subnet)),

    createVolume: ({ name, labels = {}, signal }) =>
      put(`create volume ${name}`, { signal }, () => {
        if (!engine.volumes.has(name)) engine.volumes.set(name, { name, labels })
      }),
    listVolumes: ({ labels = [], ...options } = {}) =>
      get('list volumes', options, () =>
        [...engine.volumes.values()].filter((one) => passes(one.labels, labels)),
      ),
    removeVolume: (name, options = {}) =>
      put(
        `remove volume ${name}`,
        options,
        unlessMissing(() => engine.removeVolume(name)),
      ),
  }
  return new Proxy(known as Docker, {
    get(found, name: keyof Docker) {
      if (name in found) return found[name]
      if (typeof name === 'symbol' || (name as string) === 'then') return undefined
      throw new Error(`The fake engine has no ${String(name)}.`)
    },
  })

  function look(id: string) {
    const found =
      engine.containers.get(id) ?? engine.containers.values().find(({ name }) => name === id)
    return found ? containerView(engine, found) : null
  }

  async function* events({ filters = {}, signal, opened }: Parameters<Docker['events']>[0] = {}) {
    const heard: EngineEvent[] = []
    let wake = () => {}
    const hear = (event: EngineEvent) => {
      if (filters.label && !passes(event.attributes, filters.label)) return
      heard.push(event)
      wake()
    }
    await get('events', { signal }, () => engine.listeners.add(hear))
    try {
      opened?.()
      for (;;) {
        while (heard.length === 0)
          await pace.wait<void>({ signal }, (done) => ((wake = done), () => (wake = () => {})))
        yield await get(`hear ${heard[0]!.action} ${heard[0]!.attributes.name}`, { signal }, () =>
          heard.shift()!,
        )
      }
    } finally {
      engine.listeners.delete(hear)
    }
  }

  async function* buildImage({
    context,
    tag,
    labels = {},
    signal,
  }: Parameters<Docker['buildImage']>[0]): AsyncGenerator<BuildOutput> {
    await context.cancel()
    yield { kind: 'line', stream: 'stdout', text: 'Building' }
    // with its connection a build ends
    const { id } = await get(`build ${tag}`, { signal }, () => {
      const { command, health = null } = build(tag)
      return engine.addImage({ tags: [tag], labels, command, health, exposedPorts: [8080] })
    })
    yield { kind: 'image', id }
  }

  async function* logSnapshot(id: string, { signal }: Abortable) {
    const lines = await get(`logs of ${short(id)}`, { signal }, () => {
      const { startedAt } = engine.container(id)
      return startedAt === null ? [] : [line('Here I am', startedAt)]
    })
    if (lines.length > 0) yield lines
  }

  async function untilHealthTestPasses(
    id: string,
    { test, timeout, isOnce = false, signal }: Parameters<Docker['untilHealthTestPasses']>[1],
  ) {
    const passed = behaviourOf(test.command).exitCode === 0
    await get(`health of ${short(id)}`, { signal }, () => {})
    if (!isOnce && (!passed || engine.containers.get(id)?.state !== 'running'))
      await pace.wait<void>({ signal }, (done) => engine.clock.after(timeout, done))
    return { passed, exitCode: passed ? 0 : 1, output: '' }
  }
}

const line = (text: string, at: number) => ({
  text,
  stream: 'stdout' as const,
  time: new Date(at),
  timestamp: new Date(at).toISOString().replace('Z', '000000Z'),
  ended: true,
})

const info = {
  version: '20.10.24',
  apiVersion: '1.41',
  runc: null,
  os: 'linux',
  arch: 'amd64',
  buildkit: true,
  cpus: 2,
  memoryBytes: 8 * 2 ** 30,
  driver: 'overlay2',
  containerdStore: false,
  securityOptions: [],
  rootless: false,
  unlimited: [],
  measures: true,
  cgroups: '2',
  insecureRegistries: ['127.0.0.0/8'],
  folder: '/var/lib/docker',
}

const frontend = { buildKit: true, heredocs: false, platform: 'linux/amd64' }
