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
import { runCheck, ok, wrong } from './finding.ts'
import type { Finding } from './finding.ts'
import { checkDisk, checkMemory, checkTools, checkVersions } from './machine.ts'
import { checkPort } from './port.ts'
import { checkPublishing } from './publishing.ts'
import { checkServers } from './servers.ts'

/** Changes nothing. */
export async function examine(
  config: Config,
  env: Record<string, string | undefined>,
): Promise<Finding[]> {
  const docker = connectDocker({ host: config.dockerHost })
  const findings = await Promise.all([
    runCheck('davit', checkVersions),
    runCheck('settings', () => judgeSettings(env)),
    runCheck('engine', () => checkEngine(docker)),
    runCheck('servers', () => checkServers(config, docker)),
    runCheck('git', checkTools),
    runCheck('memory', checkMemory),
    runCheck('disk', () => checkDisk('Davit', config.dataDir)),
    runCheck('disk', async () => (docker.remote ? [] : engineDisk(docker))),
    runCheck('use', () => checkDiskUse(config, docker)),
    runCheck('clock', () => checkClock(config)),
    runCheck('data', () => checkData(config)),
    runCheck('port', () => checkPort(config, docker)),
    runCheck('apps', () => checkPublishing(config, docker)),
    runCheck('edge', () => checkEdge(config, docker)),
    runCheck('proxies', () => checkProxies(config)),
    runCheck('domains', () => checkDomains(config)),
    runCheck('https', () => checkCertificates(config)),
  ])
  return findings.flat()
}

function judgeSettings(env: Record<string, string | undefined>) {
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
