import { RedisClient } from 'bun'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { connectDocker } from '../../src/docker/index.ts'
import { DavitClient } from '../demo/client.ts'
import { startDavit } from '../support/davit.ts'
import { commitFiles, makeRepository, startGitServer } from '../support/git-server.ts'
import { imageOf } from '../support/images/recipes.ts'
import { until } from '../support/until.ts'
import { inPairs } from './ratio.ts'
import type { Row } from './ratio.ts'

const pairs = 7

type Service = { id: string; status: string; containers: { id: string }[] }

/** An app that can query asks at its first line; the answer of Redis is what the bench waits for. */
const command = [
  'sh',
  '-c',
  '[ -z "$REDIS_URL" ] || until redis-cli -u "$REDIS_URL" lpush first 1; do usleep 20000; done; exec sleep 9999',
]

/** From the link of a running app to its first query, against the same by hand. */
export async function benchLinks(directory: string, executable: string): Promise<Row> {
  await using made = new AsyncDisposableStack()
  const docker = connectDocker({ host: process.env.DOCKER_HOST })
  const fresh = join(directory, 'links')
  mkdirSync(fresh)
  const repositories = join(fresh, 'repositories')
  const repository = makeRepository(repositories, 'app.git')
  const dockerfile = `FROM ${await imageOf('redis')}\nENTRYPOINT []\nCMD ${JSON.stringify(command)}\n`
  commitFiles(repository, { Dockerfile: dockerfile })
  const git = startGitServer(repositories)
  made.defer(git.stop)
  const env = { DAVIT_DATA_DIR: join(fresh, 'data'), DAVIT_ALLOW_HOSTS: '127.0.0.1' }
  const davit = await startDavit({ directory: fresh, command: [executable], env })
  made.defer(async () => void (await davit.stop()))
  const client = new DavitClient({ url: davit.url, signal: AbortSignal.timeout(600_000) })
  made.defer(() => client.removeAll())
  await client.enter('/auth/register', { email: 'bench@example.com', password: Bun.randomUUIDv7() })

  const redis = await client.post<Service>('/services/redis', { name: 'bench' })
  const see = () => client.get<Service>(`/services/${redis.id}`)
  await until(async () => (await see()).status === 'running')
  const project = await client.post<{ id: string }>('/projects', {
    name: 'bench',
    repositoryUrl: `${git.url}app.git`,
  })
  const envs = `/projects/${project.id}/envs`
  const [environment] = (await client.get<{ items: { id: string }[] }>(envs)).items
  const links = `/envs/${environment!.id}/links`
  await client.put(`${envs}/${environment!.id}`, { port: 0 })

  const deploy = async (fields = {}) => {
    const deployments = `/projects/${project.id}/deployments`
    const { id } = await client.post<{ id: string }>(deployments, fields)
    const ended = async () => {
      for await (const _ of await client.stream(`${deployments}/${id}/logs`, null)) continue
      const { status, ...deployment } = await client.get<{ status: string; image: string }>(
        `${deployments}/${id}`,
      )
      if (status !== 'running') throw new Error(`A deployment of the bench ended as ${status}`)
      return deployment
    }
    return { ended }
  }

  // what is waited for, from the outside
  await (await deploy()).ended()
  const container = (await see()).containers[0]!.id
  const { addresses, networks } = (await docker.inspectContainer(container))!
  const network = networks[0]!.name
  const { id: linkId, host } = await client.post<{ id: string; host: string }>(links, {
    serviceId: redis.id,
  })
  await client.delete(`${links}/${linkId}`)
  const password = await passwordOf(client, redis)
  const inside = new RedisClient(`redis://default:${password}@${addresses[network]}:6379/0`)
  made.defer(async () => inside.close())
  const firstQuery = () => inside.send('BLPOP', ['first', '60'])

  const linkWithDavit = async () => {
    const from = performance.now()
    const link = await client.post<{ id: string }>(links, { serviceId: redis.id })
    const deployment = await deploy({ reuseImage: true })
    await firstQuery()
    const took = performance.now() - from
    await deployment.ended()
    await client.delete(`${links}/${link.id}`)
    await (await deploy({ reuseImage: true })).ended()
    return took
  }

  const [app] = await docker.listContainers({ labels: [`davit.project=${project.id}`] })
  const linkByHand = async () => {
    const name = `davit-bench-${Bun.randomUUIDv7().slice(-12)}`
    const limits = ['--memory', '512m', '--cpus', '1', '--init', '--network', 'bridge']
    const url = `redis://default:${password}@${host}:6379/0`
    const from = performance.now()
    await run([
      'docker',
      'create',
      '--name',
      name,
      '--env',
      `REDIS_URL=${url}`,
      ...limits,
      app!.imageId,
    ])
    await run(['docker', 'network', 'connect', network, name])
    await run(['docker', 'start', name])
    await firstQuery()
    const took = performance.now() - from
    await docker.removeContainer(name, { force: true })
    return took
  }

  const values = await inPairs(pairs, { davit: linkWithDavit, floor: linkByHand })
  return {
    what: 'first query of an app, from its link on',
    against: 'docker create, network connect, start',
    unit: 'ms',
    ...values,
    aim: '≤ 1.50',
  }
}

async function passwordOf(client: DavitClient, { id }: Service) {
  const { connection } = await client.get<{ connection: { label: string; value: string }[] }>(
    `/services/${id}/secrets`,
  )
  return connection.find(({ label }) => label === 'Password')!.value
}

async function run(command: string[]) {
  const child = Bun.spawn(command, { stdin: 'ignore', stdout: 'ignore', stderr: 'pipe' })
  const [status, errors] = await Promise.all([child.exited, child.stderr.text()])
  if (status !== 0) throw new Error(`${command[0]} ${command[1]}: ${errors.trim()}`)
}
