import { Writable } from 'node:stream'
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

export type Streamed = Carrying & { volumes: MountedVolume[] }

/** Passes an archive on, without ending the stream that it writes to. */
export type Archive = (to: Writable, signal: AbortSignal) => Promise<void>

/** What writes as root needs for any owner and mode. */
export const fillingCapabilities = ['CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'FSETID']

/** Both ends have the same tar: two of different makers don’t read each other’s long names. */
export const packScript = `cd / && tar --numeric-owner -cf - "$@"`
export const unpackIn = (folder: string, { keepsTimes = true } = {}) =>
  `cd ${folder} && tar --numeric-owner -xp${keepsTimes ? '' : 'm'}f -`

/** A path as a pattern that only it matches. */
export const literal = (path: string) => path.replace(/[\\*?[]/g, '\\$&')

const sendScript = `${packScript} || exit; printf %s "$DAVIT_END"; read -r _; exit 0`
/** A line for each file with its content's sum, and one that begins with a hyphen for all that there is. */
const listScript = `cd ${volumesFolder} && {
find . -type f -exec sha256sum {} + &&
find . -type f -exec stat -c '- %N %f %u %g %s %Y' {} + &&
find . ! -type f ! -type s -exec stat -c '- %N %f %u %g' {} +; } || exit; printf %s "$DAVIT_END"; read -r _; exit 0`
const receiveScript = `find ${volumesFolder} -mindepth 2 -delete && ${unpackIn('/')}`

/** Sees to it that a server has the image whose tar packs and unpacks there: restic’s. */
export const ensureCarrier = (deps: CarrierDeps, carrying: Carrying, log: (text: string) => void) =>
  bringImage(deps, { ...carrying, image: deps.config.resticImage }, log)

/** Sees to it that a server has an image. Returns its name there. */
export async function bringImage(
  deps: CarrierDeps,
  { image, serverId, ownerId, signal }: Carrying & { image: string },
  log: (text: string) => void,
): Promise<string> {
  const onPull = () => log(`Pulling the image ${image}`)
  const { name } = await pullImage(deps, { ownerId, image, signal, onPull })
  if (serverId !== firstServer)
    await deliverImage(deps, { image: name, serverId, workload: { ownerId }, log, signal })
  return name
}

/** Writes what volumes have, without some paths, as a tar archive. They are only read. */
export async function sendVolumes(
  deps: CarrierDeps,
  { without = [], ...streamed }: Streamed & { without?: string[] },
  to: Writable,
) {
  const { volumes, signal } = streamed
  await read(deps, streamed, {
    script: sendScript,
    // as a pattern of tar also matches the end of a path, each begins with a dot
    paths: [
      ...without.map((path) => `--exclude=.${literal(path)}`),
      ...volumes.map(({ path }) => `.${path}`),
    ],
    stdout: (from) => pipeline(from, to, { signal, end: false }),
  })
}

/** What shell lines print in the folder of volumes that may change meanwhile, up to so many characters. */
export async function listInVolumes(
  deps: CarrierDeps,
  streamed: Streamed,
  { script, longest }: { script: string; longest: number },
): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  await read(deps, streamed, {
    script: `cd ${volumesFolder} || exit; { ${script}; } 2>/dev/null; printf %s "$DAVIT_END"; read -r _; exit 0`,
    async stdout(from) {
      for await (const chunk of from)
        if (text.length < longest) text += decoder.decode(chunk, { stream: true })
    },
  })
  return text
}

/** Makes volumes as the archive has them: what they had is removed first. */
export const receiveVolumes = (deps: CarrierDeps, streamed: Streamed, from: Archive) =>
  run(deps, streamed, {
    ...{ script: receiveScript, volumes: streamed.volumes },
    ...{ capabilities: fillingCapabilities, stdin: from },
  })

/** Makes volumes of one server what those of the same names on another are. Returns the bytes that went over. */
export async function copyVolumes(
  deps: CarrierDeps,
  { from, to, volumes: names, ...of }: CopiedVolumes,
): Promise<number> {
  let bytes = 0
  const volumes = mountedAll(names)
  await receiveVolumes(deps, { ...of, serverId: to, volumes }, (into, signal) => {
    const counting = new Writable({
      write(chunk: Uint8Array, _, done) {
        bytes += chunk.length
        into.write(chunk, done)
      },
    })
    return sendVolumes(deps, { ...of, serverId: from, volumes, signal }, counting)
  })
  return bytes
}

/**
 * Throws unless volumes of one server are what those of the same names on another are: names, owners, modes, links,
 * times and contents of all that is in them. Returns how many files these are.
 */
export async function compareVolumes(
  deps: CarrierDeps,
  { from, to, ...of }: CopiedVolumes,
): Promise<number> {
  const both = [from, to].map((serverId) => summarize(deps, { ...of, serverId }))
  const [one, other] = (await Promise.all(both)) as [Summary, Summary]
  if (one.sum === other.sum) return one.files
  throw new Failure(
    'move_differs',
    `The copy isn’t what is copied: there are ${one.files} files, and ${other.files} in the copy, and not all are the same.`,
    'Make sure that nothing but it writes to its volumes, and check the disks of both servers, then move it again.',
  )
}

/** The sum doesn’t depend on the order of the lines, which no server has to sort. */
type Summary = { files: number; sum: bigint }

async function summarize(
  deps: CarrierDeps,
  { volumes: names, ...of }: Carrying & Pick<CopiedVolumes, 'volumes'>,
): Promise<Summary> {
  const summary: Summary = { files: 0, sum: 0n }
  let rest: Uint8Array = new Uint8Array()
  function add(line: Uint8Array) {
    summary.sum = BigInt.asUintN(64, summary.sum + lineSum(line))
    if (line[0] !== isOther) summary.files++
  }
  const streamed = { ...of, volumes: mountedAll(names) }
  await read(deps, streamed, {
    script: listScript,
    async stdout(from) {
      for await (const chunk of from) {
        const bytes = rest.length > 0 ? Buffer.concat([rest, chunk]) : chunk
        let start = 0
        for (let end; (end = bytes.indexOf(newline, start)) >= 0; start = end + 1)
          add(bytes.subarray(start, end))
        rest = bytes.slice(start)
      }
    },
  })
  if (rest.length > 0) add(rest)
  return summary
}

const newline = '\n'.charCodeAt(0)
const isOther = '-'.charCodeAt(0)

const lineSum = (line: Uint8Array) =>
  new Bun.CryptoHasher('sha256').update(line).digest().readBigUInt64LE()

const mountedAll = (names: string[]) =>
  names.map((name) => ({ name, path: `${volumesFolder}/${name}` }))

type CopiedVolumes = Omit<Carrying, 'serverId'> & {
  /** Servers. */
  from: string
  to: string
  volumes: string[]
}

type Command = { script: string; paths?: string[] } & Pick<
  Parameters<typeof runForBackup>[1],
  'volumes' | 'capabilities' | 'stdin' | 'stdout' | 'isMarked'
>

/** Whoever owns what is in the volumes. Their scripts print `DAVIT_END` after all that they had to say. */
const read = (deps: CarrierDeps, streamed: Streamed, command: Command) =>
  run(deps, streamed, {
    ...{ ...command, capabilities: ['DAC_READ_SEARCH'], isMarked: true },
    volumes: streamed.volumes.map((volume) => ({ ...volume, readOnly: true })),
  })

async function run(deps: CarrierDeps, streamed: Carrying, { script, paths = [], ...how }: Command) {
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
