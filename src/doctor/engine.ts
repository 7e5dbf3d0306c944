import type { ContainerSummary, Docker, EngineInfo } from '../docker/index.ts'
import { ok, wrong } from './finding.ts'
import type { Finding } from './finding.ts'

/** The first engine that Davit is tried with. */
const oldestApi = 1.41

/** Milliseconds that two clocks may differ. */
const mostDrift = 5000

/** Whether the engine answers, and what it has of that which containers are kept in with. */
export async function checkEngine(docker: Docker): Promise<Finding[]> {
  const info = await docker.info({ signal: AbortSignal.timeout(15_000) })
  const running = await docker.listContainers({ signal: AbortSignal.timeout(15_000) })
  return [version(info), builds(info), bridge(running), confinement(info), clock(info)]
}

/** Commands of a build run on the engine's default bridge, and reach what else is there. */
function bridge(running: ContainerSummary[]) {
  const names = running.filter(({ addresses }) => 'bridge' in addresses).map(({ name }) => name)
  if (names.length === 0)
    return ok('bridge', 'no container on the default bridge, where builds run')
  const count = `${names.length} container${names.length > 1 ? 's' : ''}`
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

const builds = ({ buildkit }: EngineInfo) =>
  ok('builds', buildkit ? 'BuildKit' : 'the classic builder: this engine has no BuildKit')

function confinement({ securityOptions }: EngineInfo) {
  const names = securityOptions.map((option) => /name=([^,]+)/.exec(option)?.[1] ?? option)
  const is = names.length > 0 ? names.join(', ') : 'nothing'
  return names.includes('seccomp')
    ? ok('confines', `${is}${names.includes('apparmor') ? '' : ', no AppArmor on this kernel'}`)
    : wrong('confines', `${is}, no seccomp`, 'Use a kernel and an engine that have seccomp.')
}

function clock({ time }: EngineInfo) {
  const drift = Math.abs(time.getTime() - Date.now())
  return drift <= mostDrift
    ? ok('clock', `${new Date().toISOString()}, as the engine’s`)
    : wrong(
        'clock',
        `it and the engine’s are ${Math.round(drift / 1000)} seconds apart`,
        'Keep both by NTP: logs and their order go by the engine’s.',
      )
}
