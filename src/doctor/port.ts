import { originAt } from '../config.ts'
import type { Config } from '../config.ts'
import { isLocked } from '../db/instance-lock.ts'
import type { Docker } from '../docker/index.ts'
import { nearAddress } from '../platform/hosts.ts'
import { listenersOn } from '../platform/tcp-sockets.ts'
import { ok, wrong } from './finding.ts'
import type { Finding } from './finding.ts'

type PortConfig = Pick<Config, 'dataDir' | 'host' | 'port'>

/** Checks that a running Davit responds, or that a new one could listen. */
export async function checkPort(config: PortConfig, docker: Docker): Promise<Finding[]> {
  const { dataDir, port } = config
  if (port === 0) return [ok('port', 'any free one')]
  return [isLocked(dataDir) ? await judgeServer(config) : await tryToListen(config, docker)]
}

async function judgeServer({ host, port }: PortConfig) {
  const url = originAt({ host: nearAddress(host), port })
  const answer = await fetch(`${url}/health/ready`, { signal: AbortSignal.timeout(5000) }).catch(
    () => null,
  )
  if (answer?.ok) return ok('server', `running, and responds at ${url}`)
  return wrong(
    'server',
    `running, but ${answer ? `responds with status ${answer.status}` : 'doesn’t respond'} at ${url}`,
    'See its log, or set the DAVIT_HOST and DAVIT_PORT that it was started with.',
  )
}

async function tryToListen({ host, port }: PortConfig, docker: Docker) {
  try {
    Bun.listen({ hostname: host, port, socket: { data() {} } }).stop(true)
    return ok('port', `${host}:${port} is free, and no Davit is running here`)
  } catch {
    const isTaken = (await listenersOn([port])).length > 0
    return isTaken
      ? wrong(
          'port',
          `no Davit is running here, and ${await holderOf(docker, port)} listens on port ${port}`,
          'Stop it, or set DAVIT_HOST and DAVIT_PORT to a free address.',
        )
      : wrong(
          'port',
          `nothing can listen on ${host} port ${port}`,
          'Set DAVIT_HOST to an address of this machine, and DAVIT_PORT to a port that Davit’s user may use.',
        )
  }
}

/** Names the process that listens on a port: a container, a program, or one that only root can see. */
export async function holderOf(docker: Docker, port: number): Promise<string> {
  const signal = AbortSignal.timeout(15_000)
  const running = docker.remote ? [] : await docker.listContainers({ signal }).catch(() => [])
  const container = running.find(({ ports }) =>
    ports.some(({ host, protocol }) => host === port && protocol === 'tcp'),
  )
  if (container) return `the container ${container.name}`
  const [listener] = await listenersOn([port])
  return listener?.by
    ? `${listener.by.name} (process ${listener.by.pid})`
    : `a program that only root can see (sudo ss -ltnp 'sport = :${port}')`
}
