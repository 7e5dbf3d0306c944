import { existsSync, readFileSync } from 'node:fs'
import { totalmem } from 'node:os'
import { dirname } from 'node:path'
import type { Config } from '../config.ts'
import { connectDocker, isSocket } from '../docker/index.ts'
import { labelFilter } from '../docker/labels.ts'
import { gitVersion } from '../git/git.ts'
import { spaceOf } from '../platform/disk-space.ts'
import { Failure } from '../platform/errors.ts'
import { listenersOn } from '../platform/tcp-sockets.ts'
import type { Listener } from '../platform/tcp-sockets.ts'
import type { Layout } from './layout.ts'
import { distributionIn } from './packages.ts'
import { hasProgram } from './run.ts'
import { serviceState } from './service.ts'
import { installationOf } from './store.ts'

export type EngineState =
  { state: 'missing' | 'stopped' } | { state: 'running'; version: string; apiVersion: string }

export type Firewall = 'ufw' | 'firewalld' | 'nftables'

/** Everything that an installation depends on. */
export type Machine = Awaited<ReturnType<typeof inspectMachine>>

/** Ignores the environment of the person who installs. */
export const localEngine = { host: 'unix:///var/run/docker.sock' }

/** The engine that the settings use instead of the local one; null if they don't. */
export const otherEngine = ({ dockerHost }: Pick<Config, 'dockerHost'>) =>
  isSocket(dockerHost, localEngine.host.slice('unix://'.length)) ? null : dockerHost!

/** Throws if Davit uses another engine: the command would act on one without Davit's containers. */
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

/** Changes nothing. */
export async function inspectMachine(layout: Layout, ports: number[]) {
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
    /** The security module that restricts programs, such as `SELinux (enforcing)`. */
    confinement: confinementOf({
      enforce: read('/sys/fs/selinux/enforce'),
      appArmor: read('/sys/module/apparmor/parameters/enabled'),
    }),
    firewall: firewallOf(read),
    /** Programs other than Davit that listen on ports that Davit needs. */
    listeners: await others(layout, await listenersOn(ports), service),
    service,
  }
}

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

/** Excludes Davit and the Caddy that it left running. Only root sees which process owns a socket. */
async function others(layout: Layout, listeners: Listener[], { pid }: { pid: number }) {
  if (listeners.length === 0) return []
  const hasEdge = await edgeRuns(layout)
  const isOwn = ({ by }: Listener) =>
    by ? by.pid === pid || (hasEdge && by.name === 'caddy') : pid !== 0 && !isRoot()
  return listeners.filter((listener) => !isOwn(listener))
}

async function edgeRuns({ data }: Layout) {
  const instanceId = installationOf(data)
  if (!instanceId) return false
  try {
    const labels = labelFilter(instanceId, { kind: 'edge' })
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

/** An estimate: the front end that is configured to filter. */
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

/** The folder itself, or its nearest existing parent. */
export const nearest = (folder: string): string =>
  existsSync(folder) ? folder : nearest(dirname(folder))
