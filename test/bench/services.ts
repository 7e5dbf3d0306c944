import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { connectDocker } from '../../src/docker/index.ts'
import { DavitClient } from '../demo/client.ts'
import { readEvents } from '../demo/events.ts'
import { startDavit } from '../support/davit.ts'
import { inPairs } from './ratio.ts'
import type { Row } from './ratio.ts'

const pairs = 7

/** From the press of the button to a healthy Redis, against the engine's own client and the same check. */
export async function benchServices(directory: string, executable: string): Promise<Row> {
  const docker = connectDocker({ host: process.env.DOCKER_HOST })
  const template = await redisTemplate()
  const fresh = join(directory, 'services')
  mkdirSync(fresh)
  const env = { DAVIT_DATA_DIR: join(fresh, 'data') }
  const davit = await startDavit({ directory: fresh, command: [executable], env })
  const client = new DavitClient({ url: davit.url, signal: AbortSignal.timeout(300_000) })
  await client.enter('/auth/register', { email: 'bench@example.com', password: Bun.randomUUIDv7() })

  const startWithDavit = async () => {
    const from = performance.now()
    const { id } = await client.post<{ id: string }>('/services/redis', { name: 'bench' })
    await untilRunning(client, id)
    const took = performance.now() - from
    await client.delete(`/services/${id}?volumes=true`)
    return took
  }

  const startWithClient = async () => {
    const name = `davit-bench-${Bun.randomUUIDv7().slice(-12)}`
    const healthy = nextHealthy(name)
    const from = performance.now()
    await run(['docker', 'network', 'create', name])
    await run(['docker', 'volume', 'create', name])
    await run(['docker', 'run', '--detach', '--name', name, ...template.options(name)])
    await healthy
    const took = performance.now() - from
    await docker.removeContainer(name, { force: true })
    await docker.removeNetwork(name)
    await docker.removeVolume(name)
    return took
  }

  try {
    await startWithDavit() // the first one reads the catalogue
    const values = await inPairs(pairs, { davit: startWithDavit, floor: startWithClient })
    const against = 'docker run, same check, network and volume'
    return { what: 'Redis, until it is healthy', against, unit: 'ms', ...values, aim: '≤ 1.20' }
  } finally {
    await davit.stop()
  }

  /** Resolves when the engine says that this container is well. */
  async function nextHealthy(name: string) {
    const listening = new AbortController()
    const filters = { type: ['container'], event: ['health_status'], container: [name] }
    for await (const { action } of docker.events({ filters, signal: listening.signal }))
      if (action.endsWith(' healthy')) return listening.abort()
    throw new Error('The engine ended its events')
  }
}

async function untilRunning(client: DavitClient, id: string) {
  const stream = await client.stream(`/services/${id}/logs?format=json`, null)
  for await (const { name } of readEvents(stream)) if (name === 'done') break
  const { status, error } = await client.get<Service>(`/services/${id}`)
  if (status !== 'running') throw new Error(`A service of the bench failed: ${error?.message}`)
}

type Service = { status: string; error: { message: string } | null }

/** What the template says, as the engine's own client takes it. */
async function redisTemplate() {
  const path = join(import.meta.dir, '../../src/services/templates/redis.yaml')
  const { services } = Bun.YAML.parse(await Bun.file(path).text()) as {
    services: { redis: Redis }
  }
  const { image, command, healthcheck } = services.redis
  const plain = (text: string) => text.replaceAll('$$', '$')
  const variables = { REDIS_PASSWORD: 'bench', REDIS_MAXMEMORY: '256mb' }
  const policy = { REDIS_MAXMEMORY_POLICY: 'noeviction' }
  const options = (name: string) => [
    ...['--network', name, '--volume', `${name}:/data`, '--publish', '127.0.0.1::6379'],
    ...['--memory', '512m', '--cpus', '1', '--init'],
    ...Object.entries({ ...variables, ...policy }).flatMap((pair) => ['--env', pair.join('=')]),
    ...['--health-cmd', plain(healthcheck.test[1]!), '--health-interval', healthcheck.interval],
    ...['--health-timeout', healthcheck.timeout, '--health-retries', `${healthcheck.retries}`],
    ...['--health-start-period', healthcheck.start_period],
    ...[image, ...command.map(plain)],
  ]
  return { options }
}

type Redis = {
  image: string
  command: string[]
  healthcheck: {
    test: string[]
    interval: string
    timeout: string
    retries: number
    start_period: string
  }
}

async function run(command: string[]) {
  const child = Bun.spawn(command, { stdin: 'ignore', stdout: 'ignore', stderr: 'pipe' })
  const [status, errors] = await Promise.all([child.exited, child.stderr.text()])
  if (status !== 0) throw new Error(`${command.join(' ')}: ${errors.trim()}`)
}
