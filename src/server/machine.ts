import { existsSync, readFileSync } from 'node:fs'
import { totalmem } from 'node:os'
import { dirname, join } from 'node:path'
import { installationIn } from '../db/copy.ts'
import type { Config } from '../config.ts'
import { connectDocker, isSocket } from '../docker/index.ts'
import { labelFilter } from '../docker/labels.ts'
import { gitVersion } from '../git/git.ts'
import { spaceOf } from '../platform/disk-space.ts'
import type { DiskSpace } from '../platform/disk-space.ts'
import { Failure } from '../platform/errors.ts'
import { listenersOn } from '../platform/tcp-sockets.ts'
import type { Listener } from '../platform/tcp-sockets.ts'
import { asDavit } from './accounts.ts'
import type { Layout } from './layout.ts'
import { distributionIn } from './packages.ts'
import type { Distribution } from './packages.ts'
import { hasProgram } from './run.ts'
import { serviceState } from './service.ts'
import type { ServiceState } from './service.ts'

export type EngineState =
  { state: 'missing' | 'stopped' } | { state: 'running'; version: string; apiVersion: string }

export type Firewall = 'ufw' | 'firewalld' | 'nftables'

/** What installing depends on. */
export type Machine = {
  isRoot: boolean
  hasSystemd: boolean
  distribution: Distribution
  engine: EngineState
  git: string | null
  hasSsh: boolean
  memory: number
  disk: DiskSpace | null
  /** What restricts programs on this machine, such as `SELinux (enforcing)`. */
  confinement: string | null
  firewall: Firewall | null
  /** What listens on the ports that Davit will use; Davit itself isn't among them. */
  listeners: Listener[]
  service: ServiceState
}

/** The socket that an installation uses, whatever the environment of who installs says. */
export const localEngine = { host: 'unix:///var/run/docker.sock' }

/** The engine that settings name in place of that one; null when they don't. */
export const otherEngine = ({ dockerHost }: Pick<Config, 'dockerHost'>) =>
  isSocket(dockerHost, localEngine.host.slice('unix://'.length)) ? null : dockerHost!

/** Throws when Davit uses another engine: the command would look at one that has nothing of it. */
export function refuseOtherEngine(
  config: Pick<Config, 'dockerHost'>,
  command: string,
  todo: string,
) {
  const host = otherEngine(config)
  if (host === null) return
  throw new Failure(
    'other_engine',
    `DOCKER_HOST is ${host} here, and ${command} works only with the Docker of its own machine, ${localEngine.host}.`,
    todo,
  )
}

/** Looks at this machine, and changes nothing. */
export async function lookAtMachine(layout: Layout, ports: number[]): Promise<Machine> {
  const hasSystemd = existsSync('/run/systemd/system')
  const service = hasSystemd ? await serviceState() : { isActive: false, isEnabled: false, pid: 0 }
  return {
    isRoot: isRoot(),
    hasSystemd,
    distribution: distributionIn(read('/etc/os-release') ?? ''),
    engine: await engineState(),
    git: await gitVersion({ signal: AbortSignal.timeout(15_000) }).catch(() => null),
    hasSsh: hasProgram('ssh'),
    memory: totalmem(),
    disk: await spaceOf(nearest(layout.data)),
    confinement: confinementOf({
      enforce: read('/sys/fs/selinux/enforce'),
      appArmor: read('/sys/module/apparmor/parameters/enabled'),
    }),
    firewall: firewallOf(read),
    listeners: await others(layout, await listenersOn(ports), service),
    service,
  }
}

/** Whether Docker responds on this machine, and which version. */
export async function engineState(): Promise<EngineState> {
  try {
    const signal = AbortSignal.timeout(15_000)
    const { version, apiVersion } = await connectDocker(localEngine).info({ signal })
    return { state: 'running', version, apiVersion }
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    return { state: hasProgram('dockerd') ? 'stopped' : 'missing' }
  }
}

/** Davit itself, and the Caddy that it left running, don't count. Who isn’t root can’t tell them from others. */
async function others(layout: Layout, listeners: Listener[], { pid }: ServiceState) {
  if (listeners.length === 0) return []
  const hasEdge = await edgeRuns(layout)
  const isOwn = ({ by }: Listener) =>
    by ? by.pid === pid || (hasEdge && by.name === 'caddy') : pid !== 0 && !isRoot()
  return listeners.filter((listener) => !isOwn(listener))
}

async function edgeRuns({ data }: Layout) {
  const path = join(data, 'davit.db')
  try {
    const installation = asDavit(() => (existsSync(path) ? installationIn(path) : null))
    if (!installation) return false
    const labels = labelFilter(installation.id, { kind: 'edge' })
    const signal = AbortSignal.timeout(15_000)
    return (await connectDocker(localEngine).listContainers({ labels, signal })).length > 0
  } catch (error) {
    if (error instanceof Failure) return false
    throw error
  }
}

const isRoot = () => process.getuid?.() === 0

type Kernel = { enforce: string | null; appArmor: string | null }

export function confinementOf({ enforce, appArmor }: Kernel) {
  if (enforce !== null)
    return enforce.trim() === '1' ? 'SELinux (enforcing)' : 'SELinux (permissive)'
  return appArmor?.trim() === 'Y' ? 'AppArmor' : null
}

/** Roughly: which front end is set up to filter. */
export function firewallOf(read: (path: string) => string | null): Firewall | null {
  if (/^ENABLED=yes/m.test(read('/etc/ufw/ufw.conf') ?? '')) return 'ufw'
  if (existsSync('/run/firewalld')) return 'firewalld'
  const isOn = existsSync('/etc/systemd/system/sysinit.target.wants/nftables.service')
  return isOn ? 'nftables' : null
}

function read(path: string) {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return null
  }
}

/** The folder, or what will hold it. */
const nearest = (folder: string): string => (existsSync(folder) ? folder : nearest(dirname(folder)))
