import { join } from 'node:path'
import { connectDocker } from '../../src/docker/index.ts'
import { DavitClient } from '../demo/client.ts'
import { nodeApps } from '../detection/node-apps.ts'
import { otherApps } from '../detection/other-apps.ts'
import { dockerfileByHand, filesOf, greeting } from '../detection/real-app.ts'
import type { RealApp } from '../detection/real-app.ts'
import { setupCodeIn, startDavit } from '../support/davit.ts'
import { commitFiles, makeRepository, startGitServer } from '../support/git-server.ts'
import { tarContext } from '../support/images.ts'
import { ensureStandIns } from '../support/images/stand-ins.ts'
import { lastLine, run } from '../support/machine/command.ts'
import { removeInstallation } from '../support/remove-from-engine.ts'
import { until } from '../support/until.ts'
import { inTurns } from './ratio.ts'

/** A build of ours beside one by the Dockerfile that a person wrote for the same app. */
export type BuildCost = {
  kind: string
  app: string
  /** What it was recognised from. */
  from: string
  /** In MB. */
  size: Sides
  /** In seconds: without any cache but the base images, and after a change of one line. */
  cold: Sides
  warm: Sides
}

type Sides = { davit: number[]; hand: number[] }

const warmPairs = 3

/** All apps of the tests, or those that `BENCH_APPS` names. */
const chosen = () => {
  const names = process.env.BENCH_APPS?.split(',')
  return [...nodeApps, ...otherApps].filter(({ name }) => names?.includes(name) ?? true)
}

/** One after the other; one that fails is reported and hides no other. */
export async function benchDetection(
  directory: string,
  executable: string,
  failed: (reason: string) => void,
): Promise<BuildCost[]> {
  const apps = chosen()
  await ensureStandIns([...new Set(apps.flatMap(({ images }) => images))])
  const server = startGitServer(join(directory, 'repositories'))
  const env = { DAVIT_DATA_DIR: join(directory, 'detection'), DAVIT_ALLOW_HOSTS: '127.0.0.1' }
  const davit = await startDavit({ directory, command: [executable], env })
  const client = new DavitClient({ url: davit.url, signal: AbortSignal.timeout(3_600_000) })
  const docker = connectDocker({ host: process.env.DOCKER_HOST })
  try {
    const account = { email: 'bench@example.com', password: unique() }
    await client.enter('/auth/register', { ...account, setupCode: setupCodeIn(env.DAVIT_DATA_DIR) })
    const costs: BuildCost[] = []
    for (const app of apps)
      try {
        costs.push(await measure(app, { client, docker, directory, url: server.url }))
      } catch (error) {
        failed(`${app.name}: ${(error as Error).message}`)
      }
    return costs
  } finally {
    await davit.stop()
    await removeInstallation(docker, env.DAVIT_DATA_DIR)
    server.stop()
  }
}

type Bench = {
  client: DavitClient
  docker: ReturnType<typeof connectDocker>
  directory: string
  url: string
}

async function measure(app: RealApp, bench: Bench): Promise<BuildCost> {
  const ours = await oursOf(app, bench)
  const theirs = handOf(app, bench)
  try {
    const cold = await inTurns(1, {
      davit: () => ours.build({ noCache: true }),
      hand: () => theirs.build({ noCache: true }),
    })
    const warm = await inTurns(warmPairs, {
      davit: () => ours.build({ noCache: false }),
      hand: () => theirs.build({ noCache: false }),
    })
    const size = { davit: [await ours.size()], hand: [await theirs.size()] }
    await theirs.check()
    return { kind: app.kind, app: app.name, from: ours.from, size, cold, warm }
  } finally {
    await theirs.remove()
    await ours.remove()
  }
}

type Deployment = {
  id: string
  status: string
  url: string
  steps: { name: string; startedAt: string; finishedAt: string | null }[]
  error: { message: string } | null
}

async function oursOf(app: RealApp, { client, docker, directory, url }: Bench) {
  const repository = makeRepository(join(directory, 'repositories'), `${app.name}.git`)
  commitFiles(repository, filesOf(app))
  const made = { name: app.name, repositoryUrl: `${url}${app.name}.git` }
  const { id } = await client.post<{ id: string }>('/projects', made)
  if (app.settings) await client.put(`/projects/${id}/settings`, { buildSettings: app.settings })
  const { reasons } = await client.get<{ reasons: string[] }>(`/projects/${id}/detection`)
  let last: Deployment
  return {
    from: reasons.slice(0, 2).join('; '),
    async build({ noCache }: { noCache: boolean }) {
      const whom = unique()
      commitFiles(repository, greeting(app, whom))
      const deployments = `/projects/${id}/deployments`
      const started = await client.post<Deployment>(deployments, { noCache })
      const path = `${deployments}/${started.id}`
      for await (const _ of await client.stream(`${path}/logs`, null)) continue
      last = await client.get<Deployment>(path)
      if (last.status !== 'running') throw new Error(`It is ${last.status}: ${last.error?.message}`)
      await answers(new URL(app.path ?? '/', last.url), whom)
      const { startedAt, finishedAt } = last.steps.find(({ name }) => name === 'building')!
      return (Date.parse(finishedAt!) - Date.parse(startedAt)) / 1000
    },
    async size() {
      const [container] = await docker.listContainers({ labels: [`davit.deployment=${last.id}`] })
      return sizeOf(container!.imageId)
    },
    remove: () => client.delete(`/projects/${id}`),
  }
}

function handOf(app: RealApp, { docker }: Bench) {
  const tag = `davit-bench-${app.name}:${unique()}`
  const files = { ...filesOf(app), Dockerfile: dockerfileByHand(app) }
  // As an owner of Davit's has caches of its own.
  const cacheNamespace = unique()
  let whom = ''
  return {
    async build({ noCache }: { noCache: boolean }) {
      whom = unique()
      const context = tarContext({ ...files, ...greeting(app, whom) })
      const options = { context, dockerfile: 'Dockerfile', tag, cacheNamespace, noCache }
      const begun = performance.now()
      for await (const _ of docker.buildImage(options)) continue
      return (performance.now() - begun) / 1000
    },
    size: () => sizeOf(tag),
    /** What is compared with works too. */
    async check() {
      const publish = ['--publish', '127.0.0.1::8123', '--env', 'PORT=8123']
      const id = await must(['docker', 'run', '--detach', '--init', ...publish, tag])
      try {
        const address = await must(['docker', 'port', id, '8123'])
        await answers(new URL(app.path ?? '/', `http://${address}`), whom)
      } finally {
        await must(['docker', 'rm', '--force', id])
      }
    },
    remove: () => docker.removeImage(tag, { force: true }).catch(() => {}),
  }
}

const answers = (url: URL, whom: string) =>
  until(async () => {
    const text = await fetch(url).then(
      (response) => response.text(),
      () => '',
    )
    return text.includes(`Hello, ${whom}`)
  }, 20)

async function sizeOf(image: string) {
  return Number(await must(['docker', 'image', 'inspect', '--format', '{{.Size}}', image])) / 1e6
}

async function must(command: string[]) {
  const { exitCode, output } = await run(command)
  if (exitCode !== 0) throw new Error(`${command.slice(0, 2).join(' ')}: ${lastLine(output)}`)
  return output.trim()
}

const unique = () => Bun.randomUUIDv7()
