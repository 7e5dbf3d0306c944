import { unknownSettings } from '../config.ts'
import type { Config } from '../config.ts'
import { connectDocker } from '../docker/index.ts'
import { checkCertificates } from './certificates.ts'
import { checkClock } from './clock.ts'
import { checkData } from './data.ts'
import { checkDiskUse } from './disk-use.ts'
import { checkDomains } from './domains.ts'
import { checkEdge, checkProxies } from './edge.ts'
import { checkEngine } from './engine.ts'
import { look, ok, wrong } from './finding.ts'
import type { Finding } from './finding.ts'
import { checkDisk, checkMemory, checkTools, checkVersions } from './machine.ts'
import { checkPort } from './port.ts'
import { checkPublishing } from './publishing.ts'

/** Changes nothing. */
export async function examine(
  config: Config,
  env: Record<string, string | undefined>,
): Promise<Finding[]> {
  const docker = connectDocker({ host: config.dockerHost })
  const findings = await Promise.all([
    look('davit', checkVersions),
    look('settings', () => lookAtSettings(env)),
    look('engine', () => checkEngine(docker)),
    look('git', checkTools),
    look('memory', checkMemory),
    look('disk', () => checkDisk('Davit', config.dataDir)),
    look('disk', async () => (docker.remote ? [] : engineDisk(docker))),
    look('use', () => checkDiskUse(config, docker)),
    look('clock', () => checkClock(config)),
    look('data', () => checkData(config)),
    look('port', () => checkPort(config, docker)),
    look('apps', () => checkPublishing(config, docker)),
    look('edge', () => checkEdge(config, docker)),
    look('proxies', () => checkProxies(config)),
    look('domains', () => checkDomains(config)),
    look('https', () => checkCertificates(config)),
  ])
  return findings.flat()
}

function lookAtSettings(env: Record<string, string | undefined>) {
  const unknown = unknownSettings(env)
  return unknown.length === 0
    ? [ok('settings', 'all settings are known')]
    : unknown.map((name) =>
        wrong(
          'settings',
          `${name} isn’t a setting`,
          'Remove it, or correct its name: /docs/settings of this Davit lists all.',
        ),
      )
}

/** Null for an unreachable engine, which its own check reports. */
const engineDisk = async (docker: ReturnType<typeof connectDocker>) => {
  const signal = AbortSignal.timeout(15_000)
  const machine = await docker.machine({ signal }).catch(() => null)
  return machine ? checkDisk('Docker', machine.folder) : []
}
