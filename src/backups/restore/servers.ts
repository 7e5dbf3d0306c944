import type { Container } from '../../docker/index.ts'
import { partLabel } from '../../docker/labels.ts'
import { Failure } from '../../platform/errors.ts'
import type { Workload } from '../../runtime/workload.ts'
import { containerIn, whereDataIs } from '../data.ts'
import type { recipeIn } from '../data.ts'
import type { BackupDeps } from '../deps.ts'
import { canWriteTo, containersOf } from '../hold.ts'
import { refuseNewer, toolsOf } from '../recipes/index.ts'
import type { Target } from '../recipes/index.ts'
import { untilReady } from '../recipes/ready.ts'
import { getBackup } from '../store.ts'
import type { Backup } from '../store.ts'
import { chosenIn } from './choices.ts'
import type { Chosen } from './choices.ts'
import { nothingLike } from './refusals.ts'

/** What runs where the data is restored into. */
export type Live = Awaited<ReturnType<typeof recipeIn>>

type Opening = {
  backup: Backup
  /** What chooses one database alone; null for all. */
  database: string | null
  isStarting: boolean
  live: Live
  workload: Workload
  /** The engine's names of those that are replaced. */
  volumes: string[]
  tools: AsyncDisposableStack
  signal: AbortSignal
}

export type Server = Chosen & {
  target: Target
  /** In which it keeps files of its own; null for one that is held. */
  folders: string[] | null
  /** True for one that doesn’t respond until its files are replaced. */
  isDown: boolean
} & Pick<Container, 'mounts'>

/** What is said of a server that a restore which was ended has left without all of its files. */
const ofTorn = ['dump_not_running', 'dump_away', 'dump_failed']

/**
 * The servers to load into, each of a version that reads the dump. All of them run, but for those that are held, and
 * those whose files are replaced before: nothing else may bring them back.
 */
export async function serversFor(deps: BackupDeps, opening: Opening): Promise<Server[]> {
  const { backup, database, isStarting, live, workload, volumes, tools, signal } = opening
  const containers = await containersOf(deps, workload, { signal })
  const there = whereDataIs(deps, workload)
  const held = getBackup(deps.db, backup.id)?.held ?? null
  const servers: Server[] = []
  for (const chosen of chosenIn(backup, database)) {
    const { contents } = chosen
    const { component } = contents
    const source = live.recipe.databases.find((one) => one.component === component)
    if (!source) throw nothingLike(component, backup)
    const { containerId, isHeld } = serverIn(containers, { component, held })
    const server = { source, containerId, ownerId: backup.ownerId }
    const target = { ...server, tools: tools.use(toolsOf(there, server)) }
    const isOver = async () => !isStarting
    const { mounts = [] } = containers.find(({ id }) => id === containerId) ?? {}
    const described = isHeld
      ? null
      : await untilReady(there, { ...target, signal }, { isOver }).catch((error) => {
          const mayBeTorn = error instanceof Failure && ofTorn.includes(error.code)
          if (mayBeTorn && canWriteTo({ mounts }, volumes)) return null
          throw error
        })
    if (described) refuseNewer(contents, { engine: source.engine, version: described.version })
    const isDown = !isHeld && described === null
    const folders = described?.folders ?? (isHeld ? null : [])
    servers.push({ ...chosen, target, folders, isDown, mounts })
  }
  return servers
}

/**
 * The container of a server: one that is held by a process that has ended, which has asked it, else the one that runs.
 */
export function serverIn(
  containers: Container[],
  { component, held }: { component: string } & Pick<Backup, 'held'>,
) {
  const heldOne = containers.find(
    ({ id, labels }) => labels[partLabel] === component && held?.some((one) => one.id === id),
  )
  const containerId = heldOne?.id ?? containerIn(containers, component)
  return { containerId, isHeld: heldOne !== undefined }
}
