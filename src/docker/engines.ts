import type { Container } from './container-inspect.ts'
import type { Docker } from './docker.ts'
import type { Abortable } from './engine.ts'
import { isEngineSilent } from './failures.ts'
import { Failure } from '../platform/errors.ts'
import { unlessAborted } from '../platform/pause.ts'

/** Where something is: a container, an instance, an event. */
export type OnServer = { serverId: string }

/** What a container is spoken to by. */
export type ContainerKey = OnServer & { id: string }

type Work = (docker: Docker, options: { signal: AbortSignal }) => Promise<void>

/** The engines of all servers. A container that exists is spoken to at its own. */
export class Engines {
  readonly #byServer = new Map<string, Docker>()
  readonly #removed = new Map<string, AbortController>()
  readonly #away: Set<string>
  /** Of those that are away: what ran there doesn’t run any more. */
  readonly #lost: Set<string>
  /** Of those that were added, and neither reached nor found away yet. */
  readonly #untried: Map<string, PromiseWithResolvers<void>>
  readonly #keepers = new Set<(docker: Docker) => void>()

  /** The first one is that of the server that Davit runs on, which is never removed. */
  constructor(
    engines: readonly [Docker, ...Docker[]],
    away = new Set<string>(),
    lost = new Set<string>(),
    untried = new Map<string, PromiseWithResolvers<void>>(),
  ) {
    this.#away = away
    this.#lost = lost
    this.#untried = untried
    for (const docker of engines) this.#byServer.set(docker.serverId, docker)
  }

  get all() {
    return [...this.#byServer.values()] as [Docker, ...Docker[]]
  }

  /** One of another server counts as away until `setAway` says that it was reached. */
  add(docker: Docker) {
    this.#away.add(docker.serverId)
    this.#untried.set(docker.serverId, Promise.withResolvers())
    this.#byServer.set(docker.serverId, docker)
    for (const begin of this.#keepers) begin(docker)
  }

  remove({ serverId }: OnServer) {
    for (const map of [this.#byServer, this.#away, this.#lost]) map.delete(serverId)
    this.#removed.get(serverId)?.abort()
    this.#removed.delete(serverId)
    this.#noteTried(serverId)
  }

  /** Of another server, also one whose key can’t be read; nothing is known then of what runs there. */
  isAway({ serverId }: OnServer) {
    return this.#away.has(serverId)
  }

  setAway({ serverId }: OnServer, isAway: boolean) {
    if (isAway) this.#away.add(serverId)
    else for (const set of [this.#away, this.#lost]) set.delete(serverId)
    this.#noteTried(serverId)
  }

  #noteTried(serverId: string) {
    this.#untried.get(serverId)?.resolve()
    this.#untried.delete(serverId)
  }

  /** Resolves once it was reached or found away, which takes a moment after the start. */
  async tried({ serverId }: OnServer, { signal }: { signal: AbortSignal }) {
    const first = this.#untried.get(serverId)
    if (first) await unlessAborted(first.promise, signal)
  }

  /** Away, and its swarm says that it is down: only then its containers are replaced. */
  isLost({ serverId }: OnServer) {
    return this.#lost.has(serverId)
  }

  setLost({ serverId }: OnServer, isLost: boolean) {
    if (isLost) this.#lost.add(serverId)
    else this.#lost.delete(serverId)
  }

  /** Runs the work, which never throws, for each engine: also for one that is added, until it is removed. */
  async keep(work: Work, { signal }: { signal: AbortSignal }) {
    const running = new Set<Promise<void>>()
    const begin = (docker: Docker) => {
      const one = work(docker, { signal: this.untilRemoved(docker, signal) })
      running.add(one)
      void one.finally(() => running.delete(one))
    }
    const { promise: stopped, resolve } = Promise.withResolvers<void>()
    if (signal.aborted) return
    signal.addEventListener('abort', () => resolve(), { once: true })
    this.#keepers.add(begin)
    for (const docker of this.all) begin(docker)
    await stopped
    this.#keepers.delete(begin)
    await Promise.all(running)
  }

  /** Aborts when the engine is removed, too. */
  untilRemoved({ serverId }: Docker, signal: AbortSignal) {
    if (serverId === this.all[0].serverId) return signal
    const removed = this.#removed.get(serverId) ?? new AbortController()
    this.#removed.set(serverId, removed)
    return AbortSignal.any([signal, removed.signal])
  }

  of({ serverId }: OnServer): Docker {
    const docker = this.#byServer.get(serverId)
    if (this.#away.has(serverId)) throw serverAway()
    if (docker) return docker
    throw new Failure(
      'unknown_server',
      'The server that this runs on isn’t one of Davit’s any more.',
      'Add the server again, or deploy again to run it on another.',
    )
  }

  inspect(container: ContainerKey, options: Abortable = {}) {
    return this.of(container).inspectContainer(container.id, options)
  }

  /** Null when none has it. */
  async find(id: string, options: Abortable = {}): Promise<Container | null> {
    const looks = this.all.map((docker) =>
      this.#ask(docker, () => docker.inspectContainer(id, options)),
    )
    const finds = looks.map((look) => look.then((found) => found ?? Promise.reject(null)))
    return Promise.any(finds).catch(() => Promise.all(looks).then(() => null))
  }

  /** What those have that respond. Throws when that of Davit’s own server doesn’t. */
  async reachable<One>(work: (docker: Docker) => Promise<One[]>) {
    const away = new Set(this.#away)
    const lists = this.all.map((docker) =>
      this.#ask(docker, work).catch((error) => {
        if (docker === this.all[0] || !isEngineSilent(error)) throw error
        away.add(docker.serverId)
        return []
      }),
    )
    const found = (await Promise.all(lists)).flat()
    return { found, away, reached: new Set(this.#byServer.keys()).difference(away) }
  }

  /** Doesn’t wait for one that is known to be away. */
  async #ask<Answer>(docker: Docker, work: (docker: Docker) => Promise<Answer>) {
    return work(this.of(docker))
  }

  /** The same engines as they are now, with something around each. Which are away is known to both. */
  around(wrap: (docker: Docker) => Docker) {
    const [first, ...others] = this.all
    return new Engines([wrap(first), ...others.map(wrap)], this.#away, this.#lost, this.#untried)
  }
}

const serverAway = () =>
  new Failure(
    'engine_unreachable',
    'A server that this may run on can’t be reached.',
    'Check its power and network. What runs there goes on; Davit sees it again by itself.',
  )
