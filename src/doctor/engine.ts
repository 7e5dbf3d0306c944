import type { ContainerSummary, Docker, EngineInfo } from '../docker/index.ts'
import { ok, wrong } from './finding.ts'
import type { Finding } from './finding.ts'
import { judgeFaults } from './known-faults.ts'
import { counted } from '../web/units.ts'

/** The oldest engine that Davit is tested with. */
export const oldestApi = 1.41

/** Milliseconds by which the two clocks may differ. */
const mostDrift = 5000

/** Checks that the engine responds, and reports how it isolates containers. */
export async function checkEngine(docker: Docker): Promise<Finding[]> {
  const info = await docker.info({ signal: AbortSignal.timeout(15_000) })
  const running = await docker.listContainers({ signal: AbortSignal.timeout(15_000) })
  return [
    version(info),
    ...judgeFaults(info),
    ...place(docker, info),
    ...limits(info),
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

const limits = ({ unlimited }: EngineInfo) =>
  unlimited.length === 0
    ? []
    : [
        wrong(
          'limits',
          `Docker doesn’t enforce limits of ${unlimited.join(', ')}`,
          'Give it control groups v2, delegated to its user where it runs rootless: see /docs/remote.',
        ),
      ]

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
