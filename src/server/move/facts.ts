import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { installationIn } from '../../db/copy.ts'
import { openExisting } from '../../db/index.ts'
import { connectDocker } from '../../docker/index.ts'
import type { EngineInfo } from '../../docker/index.ts'
import { readLabels } from '../../docker/labels.ts'
import { spaceOf } from '../../platform/disk-space.ts'
import { Failure } from '../../platform/errors.ts'
import { version } from '../../platform/root.ts'
import { asDavit } from '../accounts.ts'
import { configOf } from '../installed.ts'
import type { Layout } from '../layout.ts'
import { localEngine, inspectMachine, nearest } from '../machine.ts'
import { readMove } from './journal.ts'
import type { Needs } from './messages.ts'
import { repositoryIn } from './repository.ts'
import { namesInUse } from '../store.ts'

export type Facts = Awaited<ReturnType<typeof factsOf>>

/** Inspects the server that receives a move, where Davit and Docker run; changes nothing. */
export async function factsOf(layout: Layout, { ports, instanceId, files, repository }: Needs) {
  const config = configOf(layout)
  const info = await connectDocker(localEngine).info()
  const { listeners } = await inspectMachine(layout, [config.port, ...ports])
  const occupied = occupation(layout, instanceId)
  return {
    ...{ version, arch: process.arch as string, engine: info.version },
    userNamespace: userNamespaceOf(info),
    /** True if containerd stores the images, which changes their ids. */
    hasContainerdStore: info.containerdStore,
    ...occupied,
    /** Bytes of the earlier copy's volumes, which are removed first, and of what an earlier try has sent. */
    replaced: occupied.copyFrom === null ? 0 : await copySize(layout),
    sent: repository === null ? 0 : sizeIn(repositoryIn(layout, repository)),
    /** What uses ports that Davit needs. */
    taken: listeners.map(
      ({ port, by }) => `port ${port} is taken by ${by?.name ?? 'another program'}`,
    ),
    missing: files.flatMap(({ path }) => (existsSync(path) ? [] : path)),
    disks: {
      docker: await diskOf(info.folder),
      data: await diskOf(layout.home),
      moves: await diskOf(layout.moves),
    },
  }
}

async function diskOf(path: string) {
  const space = await spaceOf(nearest(path))
  return space && { folder: path, free: space.free, disk: statSync(space.folder).dev }
}

/** The user and group that the engine maps root to, which its folder is named after; null without mapping. */
export const userNamespaceOf = ({ folder }: Pick<EngineInfo, 'folder'>) =>
  /\/(\d+\.\d+)$/.exec(folder)?.[1] ?? null

/** Bytes in the volumes of an earlier move. */
async function copySize(layout: Layout) {
  const instanceId = readMove(layout, 'received')?.instanceId
  const { volumes } = await connectDocker(localEngine).diskUse()
  const own = volumes.filter(({ labels }) => readLabels(labels).instanceId === instanceId)
  return own.reduce((sum, { size }) => sum + (size ?? 0), 0)
}

const sizeIn = (folder: string) =>
  existsSync(folder)
    ? readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter((one) => one.isFile())
        .reduce((sum, one) => sum + statSync(join(one.parentPath, one.name)).size, 0)
    : 0

type Occupation = {
  /** Why the server isn't empty; null if a move may use it. */
  occupied: string | null
  /** The time of an earlier copy, which is replaced. */
  copyFrom: string | null
}

/** What a move would overwrite: nothing, an earlier copy of the same installation, or data that must stay. */
export function occupation(layout: Layout, instanceId: string): Occupation {
  const occupiedBy = (occupied: string) => ({ occupied, copyFrom: null })
  const sent = readMove(layout, 'sent')
  if (sent) return occupiedBy(`it was itself moved to ${sent.host}`)
  const received = readMove(layout, 'received')
  if (received?.phase === 'moved') return occupiedBy(`${received.from} was moved to it for good`)
  if (received?.phase === 'halted')
    return occupiedBy(`it has what was written while it replaced ${received.from}`)
  if (received && received.instanceId !== instanceId)
    return occupiedBy(`it has a copy of another server, ${received.from}`)
  if (received) return { occupied: null, copyFrom: new Date(received.at).toISOString() }
  const { dataDir } = configOf(layout)
  const names = asDavit(() => namesIn(join(dataDir, 'davit.db')))
  if (names.length === 0) return { occupied: null, copyFrom: null }
  const more = names.length > 3 ? ` and ${names.length - 3} more` : ''
  return { occupied: `it has ${names.slice(0, 3).join(', ')}${more}`, copyFrom: null }
}

/** A database that can't be read counts as data, since it may be worth something. */
function namesIn(path: string) {
  if (!existsSync(path)) return []
  try {
    if (installationIn(path) === null) return []
    const db = openExisting(path)
    using _ = db.$client
    return namesInUse(db)
  } catch (error) {
    if (error instanceof Failure) return [`a database that can’t be read (${error.message})`]
    throw error
  }
}
