import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { connectDocker } from '../../src/docker/index.ts'
import { DavitClient } from '../demo/client.ts'
import { setupCodeIn, startDavit } from '../support/davit.ts'
import { anEdgeOfItsOwn } from '../load/site.ts'
import { commitFiles, makeRepository, startGitServer } from '../support/git-server.ts'
import { removeInstallation } from '../support/remove-from-engine.ts'
import { commitMany } from './many-files.ts'
import { inPairs } from './ratio.ts'
import type { Row } from './ratio.ts'

const pairs = 9

/** From the trigger to the engine's `start` event, one file edited, a previous container serving. */
export const benchDeploy = (directory: string, executable: string): Promise<Row> =>
  benchDeploys(directory, executable, {
    what: 'deploy, one file edited',
    aim: '≤ 1.10',
    peer: '1.70',
    edit: editPage,
  })

const editPage = (repository: string) =>
  commitFiles(repository, { Dockerfile: dockerfile('www'), 'www/index.html': unique() })

/** The same behind the edge, where the previous container serves until the new one does. */
export async function benchEdgeDeploy(directory: string, executable: string): Promise<Row> {
  const { settings } = await anEdgeOfItsOwn()
  const env = { ...settings, DAVIT_DOMAIN: 'apps.test' }
  return benchDeploys(directory, executable, {
    what: 'deploy behind the edge, one file edited',
    aim: '≤ 1.10',
    env,
    edit: editPage,
  })
}

/** The same with a repository that takes long to be cloned and sent. */
export const benchLargeRepository = (directory: string, executable: string): Promise<Row> =>
  benchDeploys(directory, executable, {
    what: 'next commit of a repository of 5,000 files, 50 MB',
    aim: '≤ 0.80',
    prepare: (repository) =>
      commitMany(repository, { count: 5000, size: 10_000, files: { Dockerfile: dockerfile('.') } }),
    edit: (repository) => commitFiles(repository, { 'src/0/0.txt': unique() }),
  })

type Case = Pick<Row, 'what' | 'aim' | 'peer'> & {
  env?: Record<string, string>
  prepare?: (repository: string) => Promise<void>
  edit: (repository: string) => void
}

async function benchDeploys(
  directory: string,
  executable: string,
  { env: more = {}, prepare, edit: editFile, ...row }: Case,
): Promise<Row> {
  const fresh = join(directory, unique())
  mkdirSync(fresh)
  const docker = connectDocker({ host: process.env.DOCKER_HOST })
  const cli = await findBuildKitClient()
  const repository = makeRepository(join(fresh, 'repositories'), 'app.git')
  await prepare?.(repository)
  const edit = () => editFile(repository)
  edit()
  const server = startGitServer(join(fresh, 'repositories'))
  const url = `${server.url}app.git`
  const env = { DAVIT_DATA_DIR: join(fresh, 'data'), DAVIT_ALLOW_HOSTS: '127.0.0.1', ...more }
  const davit = await startDavit({ directory: fresh, command: [executable], env })
  const signal = AbortSignal.timeout(900_000)
  const client = new DavitClient({ url: davit.url, signal })

  const enter = async () => {
    const account = { email: 'bench@example.com', password: unique() }
    await client.enter('/auth/register', { ...account, setupCode: setupCodeIn(env.DAVIT_DATA_DIR) })
    return client.post<{ id: string }>('/projects', { name: 'bench', repositoryUrl: url })
  }

  const deployWithDavit = async (project: { id: string }) => {
    edit()
    const started = nextStart((attributes) => attributes['davit.project'] === project.id)
    const from = Date.now()
    const { id } = await client.post<{ id: string }>(`/projects/${project.id}/deployments`)
    const at = await started
    await untilDone(client, `/projects/${project.id}/deployments/${id}`)
    return at - from
  }

  const deployWithScript = async () => {
    edit()
    const name = `davit-bench-${unique()}`
    const work = join(fresh, name)
    const started = nextStart((attributes) => attributes['name'] === name)
    const from = Date.now()
    await run(['git', 'clone', '--quiet', '--depth', '1', url, work])
    await run([cli, 'build', '--quiet', '--tag', name, work])
    await run([cli, 'run', '--detach', '--name', name, '--publish', '127.0.0.1::8080', name])
    const at = await started
    await docker.removeContainer(name, { force: true })
    await docker.removeImage(name)
    rmSync(work, { recursive: true })
    return at - from
  }

  try {
    const project = await enter()
    const deploy = () => deployWithDavit(project)
    await deploy() // the first one makes the network and the mirror
    const values = await inPairs(pairs, { davit: deploy, floor: deployWithScript })
    const against = 'git clone && docker build && docker run'
    return { ...row, against, unit: 'ms', ...values }
  } finally {
    await davit.stop()
    await removeInstallation(docker, env.DAVIT_DATA_DIR)
    server.stop()
  }

  /** Resolves with the time of the engine's next `start` of a container with such attributes. */
  async function nextStart(matches: (attributes: Record<string, string>) => boolean) {
    const listening = new AbortController()
    const filters = { type: ['container'], event: ['start'] }
    for await (const event of docker.events({ filters, signal: listening.signal }))
      if (matches(event.attributes)) {
        listening.abort()
        return event.time.getTime()
      }
    throw new Error('The engine ended its events')
  }
}

/** Reads the log to its end, and then waits for the clean-up that follows. */
async function untilDone(client: DavitClient, path: string) {
  for await (const _ of await client.stream(`${path}/logs`, null)) continue
  const { status } = await client.get<{ status: string }>(path)
  if (status !== 'running') throw new Error(`A deployment of the bench ended as ${status}`)
}

/** A newer docker client builds with BuildKit only when it has the buildx plugin; Debian's has it inside. */
async function findBuildKitClient() {
  for (const cli of ['docker', '/usr/bin/docker'])
    try {
      await run([cli, 'build', '--quiet', '--tag', 'davit-bench-probe', '-'], 'FROM busybox\n')
      await run([cli, 'image', 'rm', 'davit-bench-probe'])
      return cli
    } catch {}
  throw new Error('The deploy row needs a docker client that can build with BuildKit.')
}

async function run(command: string[], stdin = '') {
  const child = Bun.spawn(command, {
    env: { ...process.env, DOCKER_BUILDKIT: '1' },
    stdin: new Blob([stdin]),
    stdout: 'ignore',
    stderr: 'pipe',
  })
  const [status, errors] = await Promise.all([child.exited, new Response(child.stderr).text()])
  if (status !== 0) throw new Error(`${command.join(' ')}: ${errors.trim()}`)
}

const dockerfile = (folder: string) =>
  [
    'FROM busybox',
    `COPY ${folder} /www`,
    'EXPOSE 8080',
    'CMD ["httpd", "-f", "-p", "8080", "-h", "/www"]',
  ].join('\n')

const unique = () => Bun.randomUUIDv7()
