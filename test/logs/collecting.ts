import { onTestFinished } from 'bun:test'
import type { ContainerOptions } from '../../src/docker/index.ts'
import { connectEngine } from '../../src/docker/engine.ts'
import { labelsFor, partLabel } from '../../src/docker/labels.ts'
import { readEvents } from '../demo/events.ts'
import { testApp, withAda } from '../support/app.ts'
import type { TestApp } from '../support/app.ts'
import type { TestClient } from '../support/client.ts'

export type Line = {
  seq: number
  time: string
  stream: 'stdout' | 'stderr' | 'system'
  text: string
  deploymentId: string | null
  container: string
  process: string | null
  replica: number | null
}

/** Has the app collect, until the test ends or what it answers is called. */
export function collect(t: Pick<TestApp, 'deps'>) {
  const { collector, feed, observed, docker } = t.deps
  const abort = new AbortController()
  const { signal } = abort
  const work = [
    collector.run({ signal }),
    observed.run(feed, { signal, onEvent() {} }),
    feed.run(docker, { signal }),
  ]
  const end = async () => {
    abort.abort()
    await Promise.all(work)
  }
  onTestFinished(end)
  return end
}

/** Ada with such an environment, whose output is collected until the test ends. */
export async function collectedEnvironment() {
  const { t, ada } = withAda(testApp())
  const environment = await anEnvironment(t, ada)
  collect(t)
  return { t, ada, environment }
}

/** An environment whose containers are made by hand: no deployment slows the test down. */
export async function anEnvironment(t: Pick<TestApp, 'deps'>, client: TestClient) {
  const repositoryUrl = 'https://git.example.com/team/site.git'
  const name = `site ${Bun.randomUUIDv7().slice(-8)}`
  const { json: project } = await client.post('/projects', { name, repositoryUrl })
  const environment = (await client.get(`/projects/${project.id}/envs`)).json.items[0]
  const path = `/projects/${project.id}/envs/${environment.id}`
  return {
    projectId: project.id as string,
    id: environment.id as string,
    path,
    output: `${path}/output`,
    run: (script: string, options: Options = {}) =>
      run(t, { script, projectId: project.id, environmentId: environment.id, ...options }),
  }
}

export type Options = Partial<ContainerOptions> & {
  deploymentId?: string
  process?: string
  tty?: boolean
}

/** Runs a shell line as an app of the environment; answers the container's id. */
async function run(
  { deps: { docker, instanceId } }: Pick<TestApp, 'deps'>,
  {
    script,
    projectId,
    environmentId,
    deploymentId = Bun.randomUUIDv7(),
    process = '',
    tty = false,
    ...options
  }: Options & { script: string; projectId: string; environmentId: string },
) {
  const name = `test-${deploymentId.slice(-12)}`
  const of = { ownerId: 'nobody', projectId, environmentId, deploymentId }
  const labels = { ...labelsFor({ instanceId, kind: 'app', ...of }), [partLabel]: process }
  const command = ['sh', '-c', script]
  const id = tty ? await createWithTerminal({ name, labels, command }) : await create()
  onTestFinished(() => docker.removeContainer(id, { force: true }))
  await docker.startContainer(id)
  return id

  function create() {
    const limits = { memoryBytes: 64 * 2 ** 20, cpus: 2, pidsLimit: 64, network: 'bridge' }
    return docker.createContainer({
      name,
      labels,
      command,
      image: 'busybox:latest',
      ...limits,
      ...options,
    })
  }
}

async function createWithTerminal({
  name,
  labels,
  command,
}: {
  name: string
  labels: Record<string, string>
  command: string[]
}) {
  const body = { Image: 'busybox:latest', Tty: true, Labels: labels, Cmd: command }
  const query = { name }
  const made = await connectEngine(process.env.DOCKER_HOST).request<{ Id: string }>(
    'POST',
    '/containers/create',
    { query, body },
  )
  return made.Id
}

/** The kept lines, live, until one has come that is looked for; it is the last. */
export async function linesUntil(
  client: TestClient,
  output: string,
  isLast: (line: Line) => boolean,
  query = '',
): Promise<Line[]> {
  const response = await client.send(`${output}/stream?format=json${query}`)
  if (!response.ok) throw new Error(`The output was refused: ${await response.text()}`)
  const lines: Line[] = []
  for await (const { data } of readEvents(response.body!)) {
    const line = JSON.parse(data) as Line
    lines.push(line)
    if (isLast(line)) return lines
  }
  throw new Error('The stream ended too early.')
}

export const hasEnded = ({ stream, text }: Line) => stream === 'system' && / ended: /.test(text)

/** What the app itself wrote. */
export const written = (lines: Line[]) =>
  lines.filter(({ stream }) => stream !== 'system').map(({ text }) => text)

export const marks = (lines: Line[]) =>
  lines
    .filter(({ stream }) => stream === 'system')
    .map(({ text }) => text.replace(/Container \S+ of deployment [0-9a-f]{12}/, 'It'))

/** Every kept line, page by page. */
export async function allLines(client: TestClient, output: string, query = '') {
  const lines: Line[] = []
  for (let cursor: string | null = '0'; cursor !== null;) {
    const { json, status, text } = await client.get(
      `${output}?limit=10000&cursor=${cursor}${query}`,
    )
    if (status !== 200) throw new Error(`The output was refused: ${text}`)
    lines.push(...json.items)
    cursor = json.nextCursor
  }
  return lines
}
