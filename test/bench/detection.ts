import { join } from 'node:path'
import { connectDocker } from '../../src/docker/index.ts'
import { DavitClient } from '../demo/client.ts'
import { nodeApps } from '../detection/node-apps.ts'
import { otherApps } from '../detection/other-apps.ts'
import { withLock } from '../detection/lock-file.ts'
import { dockerfileByHand, greeting } from '../detection/real-app.ts'
import type { RealApp } from '../detection/real-app.ts'
import { workspaceApps } from '../detection/workspace-apps.ts'
import { setupCodeIn, startDavit } from '../support/davit.ts'
import { commitFiles, makeRepository, startGitServer } from '../support/git-server.ts'
import type { Files } from '../support/git-server.ts'
import { ensureStandIns } from '../support/images/stand-ins.ts'
import { askEngine } from '../support/machine/engine.ts'
import { removeInstallation } from '../support/remove-from-engine.ts'
import { until } from '../support/until.ts'
import { mostPairs } from './ratio.ts'

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

const warmPairs = 5

/** All apps of the tests, or those that `BENCH_APPS` names. */
const chosen = () => {
  const names = process.env.BENCH_APPS?.split(',')
  return [...nodeApps, ...otherApps, ...workspaceApps].filter(
    ({ name }) => names?.includes(name) ?? true,
  )
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
  const env = {
    DAVIT_DATA_DIR: join(directory, 'detection'),
    DAVIT_ALLOW_HOSTS: '127.0.0.1',
    DAVIT_BUILD_CONCURRENCY: '2',
  }
  const davit = await startDavit({ directory, command: [executable], env })
  const client = new DavitClient({ url: davit.url, signal: AbortSignal.timeout(3_600_000) })
  const docker = connectDocker({ host: process.env.DOCKER_HOST })
  try {
    const account = { email: 'bench@example.com', password: unique() }
    await client.enter('/auth/register', { ...account, setupCode: setupCodeIn(env.DAVIT_DATA_DIR) })
    const costs: BuildCost[] = []
    for (const app of apps) {
      process.stderr.write(`  ${app.name}\n`)
      try {
        costs.push(await measure(app, { client, docker, directory, url: server.url }))
      } catch (error) {
        failed(`${app.name}: ${(error as Error).message}`)
      }
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
  const davit = await projectOf(app.name, app, bench)
  // Two of one owner would share what they download.
  const text = dockerfileByHand(app).replaceAll('type=cache,', 'type=cache,id=by-hand,')
  const hand = await projectOf(`${app.name}-by-hand`, app, bench, { Dockerfile: text })
  try {
    const { reasons } = await davit.detection()
    const cold = await bothAtOnce(1, { davit, hand }, true)
    const warm = await bothAtOnce(warmPairs, { davit, hand }, false)
    const size = { davit: [await davit.size()], hand: [await hand.size()] }
    return { kind: app.kind, app: app.name, from: reasons.slice(0, 2).join('; '), size, cold, warm }
  } finally {
    await davit.remove()
    await hand.remove()
  }
}

/** Both at once, as what else the machine does would slow one of them; who begins alternates. */
async function bothAtOnce(
  count: number,
  projects: Record<keyof Sides, { build: (noCache: boolean) => Promise<number> }>,
  noCache: boolean,
) {
  const sides: Sides = { davit: [], hand: [] }
  for (let turn = 0; turn < Math.min(count, mostPairs); turn++) {
    const order = turn % 2 === 0 ? (['davit', 'hand'] as const) : (['hand', 'davit'] as const)
    const seconds = await Promise.all(order.map((side) => projects[side].build(noCache)))
    for (const [index, side] of order.entries()) sides[side].push(seconds[index]!)
  }
  return sides
}

type Deployment = {
  id: string
  status: string
  url: string
  steps: { name: string; startedAt: string; finishedAt: string | null }[]
  error: { message: string } | null
}

/** Both sides are built by Davit, so they differ in their Dockerfile alone. */
async function projectOf(name: string, app: RealApp, bench: Bench, more: Files = {}) {
  const { client, docker, directory, url } = bench
  const repository = makeRepository(join(directory, 'repositories'), `${name}.git`)
  commitFiles(repository, { ...(await withLock(app)), ...more })
  const project = { name, repositoryUrl: `${url}${name}.git` }
  const { id } = await client.post<{ id: string }>('/projects', project)
  // A person's stands at the top, of a workspace too.
  const own: Partial<RealApp> = 'Dockerfile' in more ? {} : app
  const { settings: buildSettings = {}, directory: contextDir = '.' } = own
  await client.put(`/projects/${id}/settings`, { buildSettings, contextDir })
  let last: Deployment
  return {
    detection: () => client.get<{ reasons: string[] }>(`/projects/${id}/detection`),
    /** Deploys another page, and answers the seconds of its build. */
    async build(noCache: boolean) {
      const whom = unique()
      commitFiles(repository, greeting(app, whom))
      const deployments = `/projects/${id}/deployments`
      const started = await client.post<Deployment>(deployments, { noCache })
      const path = `${deployments}/${started.id}`
      for await (const _ of await client.stream(`${path}/logs`, null)) continue
      last = await client.get<Deployment>(path)
      if (last.status !== 'running')
        throw new Error(`${name} is ${last.status}: ${last.error?.message}`)
      await answers(new URL(app.path ?? '/', last.url), whom)
      const { startedAt, finishedAt } = last.steps.find(({ name }) => name === 'building')!
      return (Date.parse(finishedAt!) - Date.parse(startedAt)) / 1000
    },
    async size() {
      const [container] = await docker.listContainers({ labels: [`davit.deployment=${last.id}`] })
      const image = await askEngine(`/images/${container!.imageId}/json`)
      return ((await image.json()) as { Size: number }).Size / 1e6
    },
    remove: () => client.delete(`/projects/${id}`),
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

const unique = () => Bun.randomUUIDv7()
