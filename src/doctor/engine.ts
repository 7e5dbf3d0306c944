import type { Docker, EngineInfo } from '../docker/index.ts'
import { ok, wrong } from './finding.ts'
import type { Finding } from './finding.ts'

/** The first engine that Davit is tried with. */
const oldestApi = 1.41

/** Milliseconds that two clocks may differ. */
const mostDrift = 5000

/** Whether the engine answers, and what it has of that which containers are kept in with. */
export async function lookAtEngine(docker: Docker): Promise<Finding[]> {
  const info = await docker.info({ signal: AbortSignal.timeout(15_000) })
  return [version(info), builds(info), confinement(info), clock(info)]
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
