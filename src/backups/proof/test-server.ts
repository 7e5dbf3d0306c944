import type { Docker } from '../../docker/index.ts'
import { Failure } from '../../platform/errors.ts'
import type { Component } from '../../runtime/component.ts'
import { withTestContainer } from '../../runtime/test-container.ts'
import { toolsOf } from '../recipes/index.ts'
import type { Source, Target } from '../recipes/index.ts'
import { untilReady as ready } from '../recipes/ready.ts'

export type TestServer = {
  component: Component
  /** The image that its real one runs. */
  image: string
  source: Source
  ownerId: string
  signal: AbortSignal
}

type Deps = Parameters<typeof withTestContainer>[0] & Parameters<typeof ready>[0]

/** Runs an empty server as a component of a service would, and passes it on once it is ready. */
export async function withTestServer<Result>(
  deps: Deps,
  server: TestServer,
  work: (target: Target) => Promise<Result>,
): Promise<Result> {
  const { source, ownerId } = server
  await using ending = new AsyncDisposableStack()
  return await withTestContainer(deps, server, async (id) => {
    const tools = toolsOf(deps, { source, containerId: id, ownerId })
    const target = { source, containerId: id, ownerId, tools }
    try {
      await untilReady(deps, server, target)
      return await work(target)
    } catch (error) {
      server.signal.throwIfAborted()
      throw (await whyEnded(deps.docker, id, server.component)) ?? error
    } finally {
      const closed = tools[Symbol.asyncDispose]() // while the server is removed
      ending.defer(() => closed)
    }
  })
}

async function untilReady(deps: Deps, { component, signal }: TestServer, target: Target) {
  const isOver = async () =>
    (await deps.docker.inspectContainer(target.containerId, { signal }))?.state !== 'running'
  await ready(deps, { ...target, signal }, { isOver }).catch((error) => {
    throw error instanceof Failure ? notReady(component, error) : error
  })
}

const notReady = ({ name }: Component, { message }: Failure) =>
  new Failure(
    'proof_server',
    `The server that ${name} was to be restored into wasn’t ready in time: ${message}`,
    'Check the load of the server, then prove the backup again.',
  )

/** Null while it runs. */
async function whyEnded(docker: Docker, id: string, { name }: Component) {
  const container = await docker.inspectContainer(id).catch(() => null)
  if (!container || container.state === 'running') return null
  return container.oomKilled
    ? new Failure(
        'proof_memory',
        `The server that ${name} was restored into ran out of memory.`,
        'Give the service more memory: the restored copy has the same limit.',
      )
    : new Failure(
        'proof_server',
        `The server that ${name} was restored into ended with exit code ${container.exitCode}.`,
        'Check that the service itself starts with empty volumes.',
      )
}
