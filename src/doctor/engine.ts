import type { ContainerSummary, Docker, EngineInfo } from '../docker/index.ts'
import { ok, wrong } from './finding.ts'
import type { Finding } from './finding.ts'
import { counted } from '../web/units.ts'

/** The oldest engine that Davit is tested with. */
export const oldestApi = 1.41

/** Milliseconds by which the two clocks may differ. */
const mostDrift = 5000

export async function checkEngine(docker: Docker): Promise<Finding[]> {
  const info = await docker.info({ signal: AbortSignal.timeout(15_000) })
  const running = await docker.listContainers({ signal: AbortSignal.timeout(15_000) })
  return [
    version(info),
    ...judgeFaults(info),
    ...place(docker, info),
    ...(info.unlimited.length === 0
      ? []
      : [
          wrong(
            'limits',
            `Docker doesn’t enforce limits of ${info.unlimited.join(', ')}`,
            'Give it control groups v2, delegated to its user where it runs rootless: see /docs/remote.',
          ),
        ]),
    ...[builds(info), bridge(running), confinement(info), clock(info)],
  ]
}

/** Build commands run on the engine's default bridge, and can reach other containers there. */
function bridge(running: ContainerSummary[]) {
  const names = running.filter(({ addresses }) => 'bridge' in addresses).map(({ name }) => name)
  if (names.length === 0)
    return ok('bridge', 'no containers on the default bridge, where builds run')
  const count = counted(names.length, 'container')
  const some = names.slice(0, 5).join(', ') + (names.length > 5 ? ', …' : '')
  return wrong(
    'bridge',
    `builds can reach ${count} on the default bridge: ${some}`,
    'Move them to networks of their own, or turn off “Network while building” in projects.',
  )
}

function version({ version, apiVersion, driver, cgroups, os, arch }: EngineInfo) {
  const is = `Docker ${version}, API ${apiVersion}, ${driver}, cgroups v${cgroups}, ${os}/${arch}`
  return Number.parseFloat(apiVersion) >= oldestApi
    ? ok('engine', is)
    : wrong('engine', is, 'Upgrade it to Docker 20.10 or newer.')
}

/** A remote or rootless engine's containers have addresses that can't be reached from here. */
function place({ remote }: Docker, { rootless }: EngineInfo) {
  if (!remote && !rootless) return []
  const is = remote ? 'Docker is on another machine' : 'Docker runs rootless'
  return [ok('place', `${is}: apps are reached by their ports, without domains; see /docs/remote`)]
}

const builds = ({ buildkit }: EngineInfo) =>
  ok('builds', buildkit ? 'BuildKit' : 'the classic builder: Docker has no BuildKit here')

function confinement({ securityOptions }: EngineInfo) {
  const names = securityOptions.map((option) => /name=([^,]+)/.exec(option)?.[1] ?? option)
  const is = names.join(', ')
  return names.includes('seccomp')
    ? ok('confines', `${is}${names.includes('apparmor') ? '' : ', no AppArmor on this kernel'}`)
    : wrong(
        'confines',
        [...names, 'no seccomp'].join(', '),
        'Use a kernel and a Docker with seccomp.',
      )
}

function clock({ time }: EngineInfo) {
  const drift = Math.abs(time.getTime() - Date.now())
  return drift <= mostDrift
    ? ok('clock', `${new Date().toISOString()}, the same as Docker’s`)
    : wrong(
        'clock',
        `differs from Docker’s clock by ${Math.round(drift / 1000)} seconds`,
        'Synchronise both by NTP: logs are ordered by Docker’s clock.',
      )
}

type Fault = {
  part: 'Docker' | 'runc'
  versions: string
  /** The effect: the rest of a sentence that starts with the version. */
  does: string
  fixedIn: string
  source: string
}

/** Faults that harm running apps; `assets/docs/maintenance.md` lists them with their sources. */
export const knownFaults: Fault[] = [
  {
    part: 'Docker',
    versions: '<20.10.10',
    does: 'lets no program start threads in images with glibc 2.34 or newer, such as Ubuntu 22.04',
    fixedIn: '20.10.10',
    source: 'https://github.com/moby/moby/pull/42836',
  },
  {
    part: 'Docker',
    versions: '<24.0.9 || >=25.0.0 <25.0.2',
    does: 'lets a hostile Dockerfile reach files of the server while it builds (CVE-2024-23651)',
    fixedIn: '24.0.9 or 25.0.2',
    source: 'https://github.com/moby/buildkit/security/advisories/GHSA-m3r6-h7wv-7xxv',
  },
  {
    part: 'Docker',
    versions: '>=27.0.0 <27.0.3',
    does: 'can give two networks the same addresses, so that apps don’t reach each other',
    fixedIn: '27.0.3',
    source: 'https://github.com/moby/moby/pull/48089',
  },
  {
    part: 'Docker',
    versions: '28.0.0',
    does: 'needs kernel modules that many servers lack, and restarts a container in a tight loop when its port is taken',
    fixedIn: '28.0.1',
    source: 'https://github.com/moby/moby/pull/49530',
  },
  {
    part: 'Docker',
    versions: '>=28.2.0 <28.3.3',
    does: 'opens ports of 127.0.0.1 to the local network when firewalld reloads (CVE-2025-54388)',
    fixedIn: '28.3.3',
    source: 'https://github.com/moby/moby/security/advisories/GHSA-x4rx-4gw3-53p4',
  },
  {
    part: 'runc',
    versions: '<1.1.12',
    does: 'lets a hostile image take over the server (CVE-2024-21626)',
    fixedIn: '1.1.12',
    source: 'https://github.com/opencontainers/runc/security/advisories/GHSA-xr7r-f8xq-vfvv',
  },
  {
    part: 'runc',
    versions: '<1.2.8 || >=1.3.0 <1.3.3',
    does: 'lets a hostile container take over the server (CVE-2025-31133)',
    fixedIn: '1.2.8 or 1.3.3',
    source: 'https://github.com/opencontainers/runc/security/advisories/GHSA-9493-h29p-rfm2',
  },
]

/** Faults of networks across servers, which do no harm on one. */
export const overlayFaults: Fault[] = [
  {
    part: 'Docker',
    versions: '>=28.2.0 <28.3.0',
    does: 'loses connections and names between containers of different servers',
    fixedIn: 'in 28.3.0',
    source: 'https://github.com/moby/moby/pull/50169',
  },
  {
    part: 'Docker',
    versions: '>=29.0.0 <=29.7.2',
    does: 'can forget the names of containers of a server that was away for seconds',
    fixedIn: 'after 29.7.2',
    source: 'https://github.com/moby/moby/issues/53141',
  },
]

export const swarmFaults = (version: string, server: string): Finding[] =>
  overlayFaults
    .filter(({ versions }) => !isPackaged(version) && isIn(version, versions))
    .map(({ does, fixedIn, source }) =>
      wrong(
        'faults',
        `${server}: Docker ${version} ${does}`,
        `Upgrade Docker: this is fixed ${fixedIn}. See ${source}.`,
      ),
    )

export function judgeFaults({ version, runc }: Pick<EngineInfo, 'version' | 'runc'>): Finding[] {
  const installed = { Docker: version, runc }
  const names = `Docker ${version}${runc === null ? '' : `, runc ${runc}`}`
  if (isPackaged(version) || isPackaged(runc ?? ''))
    return [ok('faults', `${names}: your distribution fixes faults without a new version number`)]
  const found = knownFaults.filter(({ part, versions }) => isIn(installed[part], versions))
  if (found.length === 0) return [ok('faults', `none that Davit knows in ${names}`)]
  return found.map(({ part, does, fixedIn, source }) =>
    wrong(
      'faults',
      `${part} ${installed[part]} ${does}`,
      `Upgrade ${part === 'runc' ? 'the package containerd.io, for runc' : 'Docker, to'} ${fixedIn} or newer. See ${source}.`,
    ),
  )
}

/** Distributions such as Debian, Ubuntu and Fedora fix faults in versions of their own. */
const isPackaged = (version: string) => /dfsg|[+~]ds|deb\d|ubuntu|\.(fc|el)\d/.test(version)

function isIn(version: string | null, range: string) {
  const number = /^v?(\d+\.\d+\.\d+)/.exec(version ?? '')?.[1]
  return number !== undefined && Bun.semver.satisfies(number, range)
}
