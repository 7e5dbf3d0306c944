import type { Container } from './container-inspect.ts'
import type { Docker } from './docker.ts'
import type { Abortable } from './engine.ts'
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
    for (const docker of this.all) {
      const found = await docker.inspectContainer(id, options)
      if (found) return found
    }
    return null
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
