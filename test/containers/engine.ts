import { onTestFinished } from 'bun:test'
import { watchContainers } from '../../src/containers/crash-loop.ts'
import { apps } from '../../src/deployments/observe.ts'
import { watchWorkloads } from '../../src/runtime/observe.ts'
import type { ContainerOptions } from '../../src/docker/index.ts'
import { insertDeployment } from '../../src/deployments/store.ts'
import { labelsFor } from '../../src/docker/labels.ts'
import { ticks } from '../../src/live/ticks.ts'
import { withContainer } from '../deployments/apps.ts'
import type { TestApp } from '../support/app.ts'
import type { TestClient } from '../support/client.ts'

type Options = Partial<ContainerOptions>

/** A container of busybox that isn't Davit's; it is removed when the test ends. */
export async function aStranger(
  { docker }: Pick<TestApp, 'docker'>,
  script: string,
  options: Options = {},
) {
  const id = await docker.createContainer(smallOptions(script, options))
  onTestFinished(async () => void (await docker.removeContainer(id, { force: true })))
  return id
}

/** Of a clean-up that is cancelled: it still ends the first one, if it is at that. */
export async function twoItems(t: Pick<TestApp, 'docker'>) {
  const strangers = [await aStranger(t, 'exit 0'), await aStranger(t, 'exit 0')]
  return strangers.map((id) => `container:${id}`)
}

/** A container of a project of the client, as a deployment that succeeded leaves one behind. */
export async function anOwn(t: TestApp, client: TestClient, script: string, options: Options = {}) {
  const repositoryUrl = 'https://git.example.com/team/site.git'
  const name = `site-${Bun.randomUUIDv7().slice(-6)}`
  const project = (await client.post('/projects', { name, repositoryUrl })).json
  const [environment] = (await client.get(`/projects/${project.id}/envs`)).json.items
  const deploymentId = Bun.randomUUIDv7()
  const labels = labelsFor({
    instanceId: t.instanceId,
    kind: 'app',
    ownerId: client.user.id,
    projectId: project.id,
    environmentId: environment.id,
    deploymentId,
  })
  const id = await t.docker.createContainer(smallOptions(script, { labels, ...options }))
  // at once with its container: one that no row names is an orphan of what is known
  const deployment = insertDeployment(t.db, {
    id: deploymentId,
    projectId: project.id,
    environmentId: environment.id,
    status: 'running',
    trigger: 'manual',
    triggeredBy: client.user.email,
    repositoryUrl,
  })
  withContainer(t.db, deployment, id)
  return { id, labels, project, environment, deployment }
}

/** The same, and it runs. */
export async function aRunning(
  t: TestApp,
  client: TestClient,
  script = 'sleep 999',
  options: Options = {},
) {
  const own = await anOwn(t, client, script, options)
  await t.docker.startContainer(own.id)
  return own
}

/** Listens to the engine as the server does, until the test ends. */
export function listen(t: TestApp) {
  const abort = new AbortController()
  const { signal } = abort
  const work = [
    watchContainers(t.deps, { signal }),
    watchWorkloads(t.deps, apps, { signal }),
    t.feed.run(t.docker, { signal }),
  ]
  onTestFinished(async () => {
    abort.abort()
    await Promise.all(work)
  })
}

/** Waits until a look after some change finds it so, for at most 30 s. */
export async function sooner<Value>(
  t: TestApp,
  look: () => Promise<Value | null | undefined | false> | Value | null | undefined | false,
): Promise<Value> {
  const signal = AbortSignal.timeout(30_000)
  for await (const _ of ticks((wake) => t.observed.listen(signal, wake), {
    ...{ signal, interval: 20, longest: 10_000 },
  })) {
    const found = await look()
    if (found) return found
  }
  throw new Error('It did not come to pass within 30 s.')
}

const smallOptions = (script: string, options: Options): ContainerOptions => ({
  name: `test-${Bun.randomUUIDv7().slice(-12)}`,
  image: 'busybox:latest',
  command: ['sh', '-c', script],
  network: 'bridge',
  memoryBytes: 32 * 2 ** 20,
  cpus: 1,
  pidsLimit: 64,
  stopTimeout: 1,
  ...options,
})
