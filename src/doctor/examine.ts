import { unknownSettings } from '../config.ts'
import type { Config } from '../config.ts'
import { connectDocker } from '../docker/index.ts'
import { checkData } from './data.ts'
import { checkEngine } from './engine.ts'
import { look, ok, wrong } from './finding.ts'
import type { Finding } from './finding.ts'
import { checkDisk, checkMemory, checkTools, checkVersions } from './machine.ts'
import { checkPort } from './port.ts'
import { checkPublishing } from './publishing.ts'

/** Looks at all that Davit needs, and changes none of it. */
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
    look('data', () => checkData(config)),
    look('port', () => checkPort(config)),
    look('apps', () => checkPublishing(config, docker)),
  ])
  return findings.flat()
}

function lookAtSettings(env: Record<string, string | undefined>) {
  const unknown = unknownSettings(env)
  return unknown.length === 0
    ? [ok('settings', 'all are known')]
    : unknown.map((name) =>
        wrong('settings', `${name} is none`, 'See the README for their names, or take it away.'),
      )
}

/** An engine that is away is told of where that is looked at. */
const engineDisk = async (docker: ReturnType<typeof connectDocker>) => {
  const signal = AbortSignal.timeout(15_000)
  const machine = await docker.machine({ signal }).catch(() => null)
  return machine ? checkDisk('the engine', machine.folder) : []
}
