import { EngineError } from '../docker/index.ts'
import type { Container, Docker } from '../docker/index.ts'
import { AppError } from '../platform/errors.ts'
import { explain } from './explain.ts'
import { stayStopped } from './freeze.ts'

type Acted = Pick<Container, 'id' | 'name'>

/**
 * Uses the container's own stop timeout by default. Davit's own stay stopped until someone starts them. Returns false
 * when the container was removed.
 */
export function stopContainer(
  docker: Docker,
  container: Acted,
  { isOwn = true, ...options }: { timeoutSeconds?: number; isOwn?: boolean } = {},
) {
  const { id } = container
  const stop = async () => {
    const isThere = await docker.stopContainer(id, options)
    if (isOwn) await stayStopped(docker, id)
    return isThere
  }
  return refused(container, 'stop', stop())
}

/** Starts it even if it was stopped. Returns false when it was removed. */
export const restartContainer = (docker: Docker, container: Acted) =>
  refused(container, 'start', docker.restartContainer(container.id))

const refused = ({ name }: Acted, verb: string, call: Promise<boolean>) =>
  call.catch((error) => {
    if (!(error instanceof EngineError)) throw error
    const { message } = explain(error, { subject: 'environment', what: `Couldn’t ${verb} ${name}` })
    throw new AppError('conflict', `${message} The container’s page and log may say why.`, {
      cause: error,
    })
  })

/** The engine refuses to remove an object in use. Returns false when it didn't exist. */
export const removeUnused = (
  docker: Docker,
  { kind, id }: { kind: 'containers' | 'networks' | 'volumes'; id: string },
) =>
  ({
    containers: docker.removeContainer,
    networks: docker.removeNetwork,
    volumes: docker.removeVolume,
  })[kind](id)
