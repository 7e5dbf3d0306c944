import type { Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Config } from '../config.ts'
import { Failure } from '../platform/errors.ts'
import { runForBackup } from './backup-containers.ts'
import type { RuntimeDeps } from './deps.ts'
import { deliverImage } from './images/deliver-image.ts'
import { pullImage } from './images/pull-image.ts'
import { firstServer } from '../platform/root.ts'

/** In which volumes are mounted, each below it. */
export const volumesFolder = '/volumes'

/** The engine’s name of a volume, and where it is in an archive, below `volumesFolder`. */
export type MountedVolume = { name: string; path: string }

export type CarrierDeps = RuntimeDeps & { config: Config }

type Carrying = { serverId: string; ownerId: string; signal: AbortSignal }

type Streamed = Carrying & { volumes: MountedVolume[] }

/** Passes an archive on, without ending the stream that it writes to. */
export type Archive = (to: Writable, signal: AbortSignal) => Promise<void>

/** What writes as root needs for any owner and mode. */
export const fillingCapabilities = ['CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'FSETID']

/** Both ends have the same tar: two of different makers don’t read each other’s long names. */
export const packScript = `cd / && tar --numeric-owner -cf - "$@"`
export const unpackScript = `cd / && tar --numeric-owner -xpf -`

const sendScript = `${packScript} || exit; printf %s "$DAVIT_END"; read -r _; exit 0`
const receiveScript = `find ${volumesFolder} -mindepth 2 -delete && ${unpackScript}`

/** Sees to it that a server has the image whose tar packs and unpacks there: restic’s. */
export async function ensureCarrier(
  deps: CarrierDeps,
  { serverId, ownerId, signal }: Carrying,
  log: (text: string) => void,
) {
  const image = deps.config.resticImage
  const onPull = () => log(`Pulling the image ${image}`)
  const { name } = await pullImage(deps, { ownerId, image, signal, onPull })
  if (serverId === firstServer) return
  await deliverImage(deps, { image: name, serverId, workload: { ownerId }, log, signal })
}

/** Writes what volumes have as a tar archive. They are only read. */
export async function sendVolumes(deps: CarrierDeps, streamed: Streamed, to: Writable) {
  const { volumes, signal } = streamed
  await run(deps, streamed, {
    script: sendScript,
    paths: volumes.map(({ path }) => path.slice(1)),
    volumes: volumes.map((volume) => ({ ...volume, readOnly: true })),
    capabilities: ['DAC_READ_SEARCH'],
    isMarked: true,
    stdout: (from) => pipeline(from, to, { signal, end: false }),
  })
}

/** Makes volumes as the archive has them: what they had is removed first. */
export const receiveVolumes = (deps: CarrierDeps, streamed: Streamed, from: Archive) =>
  run(deps, streamed, {
    ...{ script: receiveScript, paths: [], volumes: streamed.volumes },
    ...{ capabilities: fillingCapabilities, stdin: from },
  })

type Command = { script: string; paths: string[] } & Pick<
  Parameters<typeof runForBackup>[1],
  'volumes' | 'capabilities' | 'stdin' | 'stdout' | 'isMarked'
>

async function run(deps: CarrierDeps, streamed: Streamed, { script, paths, ...how }: Command) {
  const { serverId, ownerId, signal } = streamed
  const { name: image } = await pullImage(deps, { ownerId, image: deps.config.resticImage, signal })
  const there = { ...deps, docker: deps.engines.of({ serverId }) }
  const { exitCode, stderr } = await runForBackup(there, {
    ...{ image, ownerId, does: 'volumes', isOnline: false, user: '0:0', signal },
    ...{ entrypoint: ['sh', '-c', script, 'sh'], command: paths, ...how },
    ...{ memoryBytes: 256 * 2 ** 20, cpus: 2, pidsLimit: 64, readOnly: true, init: true },
    tmpfs: [{ path: volumesFolder, options: 'size=1m' }],
  })
  if (exitCode !== 0) throw notCarried(stderr)
}

const notCarried = (stderr: string) =>
  new Failure(
    'volumes_not_carried',
    `Not all of its volumes could be carried from one server to the other: ${
      stderr.trim().split('\n').at(-1)?.slice(0, 300) || 'tar failed'
    }`,
    'Check the disks of both servers, then try again.',
  )
