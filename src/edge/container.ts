import { dirname, join } from 'node:path'
import { Failure } from '../platform/errors.ts'
import { adminAddress } from './plan.ts'

/** The folder shared with Davit, as Caddy sees it. */
export const folderInside = '/edge'

/** The configuration Caddy starts with: its last one, which Davit can replace before the start. */
export const savedConfiguration = (folder: string) => `${folder}/config/caddy/autosave.json`

/** The folder of its volume with certificates and ACME accounts. */
export const certificatesInside = { path: '/data', name: 'caddy' } as const

/** The certificates of a backup, until the first container has them; beside the shared folder. */
export const restoredCertificates = (folder: string) => join(dirname(folder), 'certificates.tar')

export const image = 'caddy:2'

/** The oldest versions that work: `{file.…}` for slots, and for Davit's own a log file mode. */
const oldest = { any: [2, 8], own: [2, 9] } as const

const MiB = 2 ** 20

/** Bytes that one open socket may hold: a request with the largest headers whose body doesn't end. */
const perSocket = 192 * 2 ** 10

/** Half of the machine's memory, within bounds. */
const memoryOf = (machine: number) =>
  Math.round(Math.min(Math.max(machine / 2, 768 * MiB), 2048 * MiB))

/**
 * Davit runs Caddy in this container, on the host's network. It starts with its last configuration, so that
 * apps are reachable when Davit is down, too. Root in it needs DAC_OVERRIDE for the files of a Davit that
 * isn't root; it sees no others.
 */
export const edgeContainer = ({
  folder,
  volume,
  cpus,
  memoryBytes: machine,
}: ContainerOptions) => ({
  name: 'davit-edge',
  image,
  entrypoint: ['caddy'],
  command: ['run', '--resume'],
  env: {
    CADDY_ADMIN: adminAddress(folderInside),
    // a quarter of the garbage collections: 3 MiB more when idle, 25 after load, and each request is cheaper
    GOGC: '400',
    GOMAXPROCS: String(cpus + 1),
    // collects harder before the kernel would kill it
    GOMEMLIMIT: `${Math.round((memoryOf(machine) * 2) / 3 / MiB)}MiB`,
    HOME: '/data',
    XDG_CONFIG_HOME: `${folderInside}/config`,
    XDG_DATA_HOME: '/data',
  },
  workingDir: '/data',
  user: '0:0',
  memoryBytes: memoryOf(machine),
  // no more sockets than fit into its memory, so that no visitor can have the kernel kill it for all
  ulimits: [openFiles(Math.floor(memoryOf(machine) / perSocket))],
  cpus,
  pidsLimit: 512,
  capabilities: ['NET_BIND_SERVICE', 'DAC_OVERRIDE'],
  volumes: [
    { name: volume, path: certificatesInside.path },
    ...(folder === null ? [{ name: folderVolume(volume), path: folderInside }] : []),
  ],
  readOnly: true,
  init: false,
  restart: { name: 'unless-stopped' as const },
  stopTimeout: 10,
  logs: { maxSize: '10m', maxFiles: 3 },
  granted: {
    hostNetwork: true,
    binds: folder === null ? [] : [{ source: folder, path: folderInside, readOnly: false }],
  },
})

const openFiles = (count: number) => ({ name: 'nofile', soft: count, hard: count })

/** On another server, instead of a shared folder. */
export const folderVolume = (volume: string) => `${volume}-folder`

/** The folder is null on another server. */
type ContainerOptions = { folder: string | null; volume: string; cpus: number; memoryBytes: number }

/** Throws when the output of `caddy version` is too old; a build without a version passes. */
export function refuseOldCaddy(version: string) {
  const [major, minor] = /(\d+)\.(\d+)/.exec(version)?.slice(1).map(Number) ?? []
  if (major === undefined || minor === undefined) return
  const [least, leastMinor] = oldest.own
  if (major > least || (major === least && minor >= leastMinor)) return
  throw tooOld(`Caddy ${major}.${minor}`, oldest.own)
}

export const tooOld = (what: string, needed: readonly number[] = oldest.any) =>
  new Failure(
    'edge_too_old',
    `${what} is too old: Davit needs ${needed.join('.')} or newer.`,
    'Update it. Where Davit runs Caddy itself, remove the image caddy:2, and a newer one is pulled.',
  )
