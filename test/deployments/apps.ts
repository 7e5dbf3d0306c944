import { join } from 'node:path'
import { jobs } from '../../src/db/schema.ts'
import type { Placement } from '../../src/db/schema.ts'
import { Failure } from '../../src/platform/errors.ts'
import { unlessAborted } from '../../src/platform/pause.ts'
import type { TestApp } from '../support/app.ts'
import type { TestClient } from '../support/client.ts'
import { commitFiles, makeRepository } from '../support/git-server.ts'
import type { Files } from '../support/git-server.ts'
import type { Deployment } from '../../src/deployments/store.ts'
import { adoptRelease } from '../../src/runtime/store.ts'
import { until } from '../support/until.ts'
import { pathOf } from './events.ts'
import type { Key } from './events.ts'

/** An app on busybox that answers with the text. */
export const anApp = (text: string): Files => ({
  'www/index.html': text,
  Dockerfile: [
    'FROM busybox',
    'COPY www /www',
    'EXPOSE 8080',
    'CMD ["httpd", "-f", "-p", "8080", "-h", "/www"]',
  ].join('\n'),
})

/** An image that runs a command of the shell. */
export const aCommand = (script: string): Files => ({
  Dockerfile: `FROM busybox\nEXPOSE 8080\nCMD ${JSON.stringify(['sh', '-c', script])}\n`,
})

/** A build that runs a command of the shell, whatever the engine has in its cache, before the app's files. */
export const aBuild = (script: string, app = 'CMD ["sleep", "9999"]'): Files => ({
  Dockerfile: `FROM busybox\nRUN ${script} # ${Bun.randomUUIDv7()}\n${app}\n`,
})

/** Builds go on until they are cancelled; those after `fail` end by themselves. */
export function slowBuilds({ faults }: TestApp) {
  let fails = false
  faults.buildImage = async function* ({ context, signal }) {
    await context.cancel()
    yield { kind: 'line', stream: 'stdout', text: 'It builds' }
    if (!fails) await unlessAborted(new Promise<never>(() => {}), signal!)
    throw new Failure('build_failed', 'It ended.', 'See.')
  }
  return { fail: () => void (fails = true) }
}

/** A repository on disk with these files, and more commits later. */
export function aRepository(dir: string, files: Files, name = 'app.git') {
  const path = makeRepository(join(dir, 'repositories'), name)
  const commit = (more: Files, options = {}) => commitFiles(path, more, options)
  return { url: `file://${path}`, path, head: commit(files), commit }
}

/** A project of the client whose repository holds these files, and its first environment. */
export async function aProject(
  t: TestApp,
  client: TestClient,
  files: Files,
  { name = 'site', url, ...settings }: { name?: string; url?: string } & Settings = {},
) {
  const repository = aRepository(t.dataDir, files, `${name}.git`)
  const project = (await client.post('/projects', { name, repositoryUrl: url ?? repository.url }))
    .json
  const environment = (await client.get(`/projects/${project.id}/envs`)).json.items[0]
  const path = `/projects/${project.id}/envs/${environment.id}`
  const configure = async (changes: Settings) => {
    const { status, text } = await client.put(path, changes)
    if (status !== 200) throw new Error(`The settings were refused: ${text}`)
  }
  if (Object.keys(settings).length > 0) await configure(settings)
  return {
    id: project.id as string,
    environmentId: environment.id as string,
    hostPort: environment.hostPort as number,
    repository,
    configure,
    set: (variable: { key: string; value: string; secret?: boolean; buildTime?: boolean }) =>
      client.post(`/envs/${environment.id}/variables`, variable),
    trigger: (asked: Record<string, unknown> = {}) => triggered(client, project.id, asked),
    deploy: (asked: Record<string, unknown> = {}) => deployed(client, project.id, asked),
    /** Commits these files first. */
    deployFiles(more: Files, asked: Record<string, unknown> = {}) {
      repository.commit(more)
      return deployed(client, project.id, asked)
    },
  }
}

type Settings = {
  domains?: string[]
  drainSeconds?: number
  watchSeconds?: number
  rollbackOn?: string[]
  port?: number
  hostPort?: number
  healthPath?: string | null
  healthHost?: string | null
  healthTimeout?: number
  memoryMb?: number
  cpus?: number
  volumes?: string[]
  placement?: Placement | null
  processes?: {
    name: string
    command?: string | string[]
    replicas?: number
    [limit: string]: unknown
  }[]
  releaseCommand?: string | string[] | null
  releaseTimeout?: number
}

/** As the database has a deployment that came to a container, which the engine need not have. */
export function withContainer(db: TestApp['db'], deployment: Deployment, containerId: string) {
  const workload = { id: deployment.environmentId, kind: 'app' } as const
  const containers = [{ component: 'web', containerId, state: 'live' as const }]
  adoptRelease(db, { workload, id: deployment.id, containers })
  return deployment
}

export async function triggered(
  client: TestClient,
  projectId: string,
  asked: Record<string, unknown> = {},
) {
  const { status, json, text } = await client.post(`/projects/${projectId}/deployments`, asked)
  if (status !== 201) throw new Error(`The deployment was refused: ${text}`)
  return json
}

/** Deploys and waits for the end of the stream; returns the deployment in its final state. */
export const deployed = async (
  client: TestClient,
  projectId: string,
  asked: Record<string, unknown> = {},
) => finished(client, await triggered(client, projectId, asked))

/** Reads the log to its end; returns the deployment in its final state. */
export async function finished(client: TestClient, deployment: Key) {
  const headers = { Accept: 'text/event-stream' }
  const stream = await client.send(`${pathOf(deployment)}/logs`, { headers })
  await stream.text()
  return (await client.get(pathOf(deployment))).json
}

export const cancel = (client: TestClient, deployment: Key) =>
  client.post(`${pathOf(deployment)}/cancel`)

export const rollBack = (client: TestClient, deployment: Key, asked?: Record<string, unknown>) =>
  client.post(`${pathOf(deployment)}/rollback`, asked)

/** The text of every line of the log. */
export async function logOf(client: TestClient, deployment: Key) {
  const { json } = await client.get(`${pathOf(deployment)}/logs?limit=10000`)
  return json.items.map((line: { text: string }) => line.text) as string[]
}

/** What the app answers at the deployment's address. */
export const answerOf = async ({ url }: { url: string }) => (await fetch(url)).text()

/** The job of a deployment as a process that died while it ran has left it. */
export const leftJob = (
  { db }: Pick<TestApp, 'db'>,
  { id, environmentId: subjectId }: { id: string; environmentId: string },
  left: { attempt: number; cancelRequested?: boolean },
) =>
  db
    .insert(jobs)
    .values({ id, kind: 'deploy', subjectId, status: 'running', ...left })
    .run()
/** Resolves when that has the text: a container that was started again takes a moment. */
export const untilAnswers = (deployment: { url: string }, text: string) =>
  until(() =>
    answerOf(deployment).then(
      (answer) => answer.includes(text),
      () => false,
    ),
  )
