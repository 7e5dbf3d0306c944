import type { Docker } from '../../docker/index.ts'
import type { Config } from '../../config.ts'
import { isEngineSilent } from '../../docker/failures.ts'
import { firstServer } from '../../platform/root.ts'
import type { RuntimeDeps } from '../../runtime/deps.ts'

/** What builds the images of a deployment. */
export type BuildEngine = {
  docker: Docker
  frontend: Awaited<ReturnType<Docker['frontend']>>
  /** The name of its server; null for Davit’s own. */
  server: string | null
}

type Deps = Pick<RuntimeDeps, 'docker' | 'engines' | 'serverList'>
type Options = {
  projectId: string
  builder: Config['builder']
  log: (text: string) => void
  signal: AbortSignal
}

/**
 * Another server with the role, as long as one responds: always the same for a project, so that its build
 * cache is there. Else Davit’s own.
 */
export async function chooseBuildEngine(
  { docker, engines, serverList }: Deps,
  { projectId, builder, log, signal }: Options,
): Promise<BuildEngine> {
  const frontend = await docker.frontend({ builder, signal })
  const rank = ({ id }: { id: string }) => Bun.hash.xxHash64(`${projectId} ${id}`)
  const others = serverList
    .list()
    .filter(({ id, roles }) => id !== firstServer && roles.includes('builds'))
    .toSorted((a, b) => (rank(a) < rank(b) ? -1 : 1))
  for (const { id, name, state } of others) {
    if (state === 'draining') continue
    const found = await askThere(() => engines.of({ serverId: id }), { builder, signal })
    if (!found) log(`${name} doesn’t respond, so it doesn’t build.`)
    else if (found.frontend.platform !== frontend.platform)
      log(`${name} builds for ${found.frontend.platform}, not for ${frontend.platform}.`)
    else return { ...found, server: name }
  }
  return { docker, frontend, server: null }
}

async function askThere(engine: () => Docker, options: Pick<Options, 'builder' | 'signal'>) {
  try {
    const docker = engine()
    return { docker, frontend: await docker.frontend(options) }
  } catch (error) {
    options.signal.throwIfAborted()
    if (isEngineSilent(error)) return null
    throw error
  }
}
