import type { Container } from './container-inspect.ts'
import type { Docker } from './docker.ts'
import type { Abortable } from './engine.ts'
import { isEngineSilent } from './failures.ts'
import { Failure } from '../platform/errors.ts'

/** Where something is: a container, an instance, an event. */
export type OnServer = { serverId: string }

/** What a container is spoken to by. */
export type ContainerKey = OnServer & { id: string }

/** The engines of all servers. A container that exists is spoken to at its own. */
export class Engines {
  readonly #byServer: Map<string, Docker>

  /** The first one is that of the server that Davit runs on. */
  constructor(readonly all: readonly [Docker, ...Docker[]]) {
    this.#byServer = new Map(all.map((docker) => [docker.serverId, docker]))
  }

  of({ serverId }: OnServer): Docker {
    const docker = this.#byServer.get(serverId)
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
    const looks = this.all.map((docker) => docker.inspectContainer(id, options))
    const finds = looks.map((look) => look.then((found) => found ?? Promise.reject(null)))
    return Promise.any(finds).catch(() => Promise.all(looks).then(() => null))
  }

  /** What those have that respond. Throws when that of Davit’s own server doesn’t. */
  async reachable<One>(work: (docker: Docker) => Promise<One[]>) {
    const away = new Set<string>()
    const found = await this.each((docker) =>
      work(docker).catch((error) => {
        if (docker === this.all[0] || !isEngineSilent(error)) throw error
        away.add(docker.serverId)
        return []
      }),
    )
    return { found, away }
  }

  /** What all have. */
  async each<One>(work: (docker: Docker) => Promise<One[]>): Promise<One[]> {
    return (await Promise.all(this.all.map(work))).flat()
  }

  /** The same engines, with something around each. */
  around(wrap: (docker: Docker) => Docker) {
    const [first, ...others] = this.all
    return new Engines([wrap(first), ...others.map(wrap)])
  }
}
