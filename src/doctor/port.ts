import { originOf } from '../config.ts'
import type { Config } from '../config.ts'
import { isLocked } from '../db/instance-lock.ts'
import { ok, wrong } from './finding.ts'
import type { Finding } from './finding.ts'

type Place = Pick<Config, 'dataDir' | 'host' | 'port'>

/** Whether a Davit that runs answers, or one that starts could listen. */
export async function checkPort(config: Place): Promise<Finding[]> {
  const { dataDir, port } = config
  if (port === 0) return [ok('port', 'any free one')]
  return [isLocked(dataDir) ? await lookAtServer(config) : tryToListen(config)]
}

async function lookAtServer({ host, port }: Place) {
  const reached = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host
  const url = originOf({ url: null, host: reached, port })
  const answer = await fetch(`${url}/health/ready`, { signal: AbortSignal.timeout(5000) }).catch(
    () => null,
  )
  if (answer?.ok) return ok('server', `runs and answers at ${url}`)
  return wrong(
    'server',
    `runs, and ${answer ? `answers ${answer.status}` : 'does not answer'} at ${url}`,
    'See its own log; or give this command the DAVIT_HOST and DAVIT_PORT that it was started with.',
  )
}

function tryToListen({ host, port }: Place) {
  try {
    Bun.listen({ hostname: host, port, socket: { data() {} } }).stop(true)
    return ok('port', `${host}:${port} is free, and no Davit runs here`)
  } catch {
    return wrong(
      'port',
      `no Davit runs here, but nothing can listen on ${host} port ${port}`,
      'Stop what listens there, or set DAVIT_HOST and DAVIT_PORT to what is free.',
    )
  }
}
