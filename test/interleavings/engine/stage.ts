import type { ContainerOptions, Docker } from '../../../src/docker/index.ts'

/** What a scenario may use; all it makes has `labels` and a name of its own. */
export type Stage = {
  docker: Docker
  labels: Record<string, string>
  /** A name for the end of it, the same each time in one scenario. */
  name: (end: string) => string
  /** A /26 that no network has. */
  subnet: string
  /** A port of the host that nothing has. */
  port: number
}

/** A container that does nothing but end, or what the options say. */
export const make = (s: Stage, options: Partial<ContainerOptions>, end = 'c') =>
  s.docker.createContainer({
    name: s.name(end),
    image: 'busybox:latest',
    labels: s.labels,
    network: 'bridge',
    memoryBytes: 32 * 2 ** 20,
    cpus: 1,
    pidsLimit: 64,
    init: true,
    command: ['true'],
    ...options,
  })

/** A network of the stage; returns its name. */
export async function aNetwork({ docker, labels, subnet, name }: Stage) {
  await docker.createNetwork({ name: name('net'), labels, subnet })
  return name('net')
}

/** What the product reads of a container's state. */
export async function look({ docker }: Stage, id: string) {
  const found = await docker.inspectContainer(id)
  return (
    found && {
      state: found.state,
      exitCode: found.exitCode,
      health: found.health,
      hasError: found.error !== null,
      started: found.startedAt !== null,
      finished: found.finishedAt !== null,
      restarts: found.restartCount,
      addresses: Object.keys(found.addresses).length,
      ports: found.ports.length,
      policy: found.restartPolicy.name,
    }
  )
}

/** A refusal by its status and the words that the product looks for, else what came. */
export async function answer(call: Promise<unknown>) {
  const words =
    /already in use|already allocated|overlaps|in use|active endpoints|No such \w+|is not connected|no configured subnet|not found|no such file|running|already exists|conflict/i
  return call.then(
    (value) => (typeof value === 'string' ? 'an id' : value),
    (error) => `${error.status}: ${words.exec(error.message)?.[0] ?? error.message}`,
  )
}
