import { onTestFinished } from 'bun:test'
import { newId } from '../../src/db/new-id.ts'
import { insertDeployment } from '../../src/deployments/store.ts'
import { insertRelease, makeLive } from '../../src/runtime/store.ts'
import { collect } from '../logs/collecting.ts'
import { Shell } from '../containers/shell.ts'
import { testApp } from '../support/app.ts'
import type { TestApp } from '../support/app.ts'
import type { TestClient } from '../support/client.ts'
import { listening } from '../support/listening.ts'
import { aSession } from '../support/session.ts'
import { until } from '../support/until.ts'

type Options = {
  env?: Record<string, string>
  t?: TestApp
  email?: string
  /** Its owner, who has that address. */
  ada?: TestClient
  name?: string
  /** False with a simulated engine, which has no output. */
  collects?: boolean
}

/** An environment of Ada's in which busybox is live, as far as runs ask; nothing serves. */
export async function aLiveEnvironment({
  env,
  t = testApp(env),
  email = 'ada@example.com',
  ada = t.logIn(email),
  name = 'site',
  collects = true,
}: Options = {}) {
  if (collects) collect(t)
  const repositoryUrl = 'https://git.example.com/site.git'
  const project = (await ada.post('/projects', { name, repositoryUrl })).json
  const [{ id }] = (await ada.get(`/projects/${project.id}/envs`)).json.items
  const live = insertDeployment(t.db, {
    id: newId(),
    projectId: project.id,
    environmentId: id,
    status: 'running',
    trigger: 'manual',
    triggeredBy: email,
    repositoryUrl,
    image: 'busybox:latest',
    finishedAt: new Date(),
  })
  const workload = { id, kind: 'app' } as const
  insertRelease(t.db, { workload, id: live.id, components: null, slots: [] })
  makeLive(t.db, { workloadId: id, releaseId: live.id, states: new Map() })
  const path = `/envs/${id}/runs`
  return { ...t, t, ada, project, id: id as string, live, path, ...driving(t, ada, path) }
}

/** What is done with the runs of an environment. */
export const driving = (t: TestApp, ada: TestClient, path: string) => ({
  /** Starts a run; throws where it is refused. */
  async start(command: string | string[], more: Record<string, unknown> = {}) {
    const { status, json, text } = await ada.post(path, { command, ...more })
    if (status !== 201) throw new Error(`The run was refused: ${text}`)
    return json as { id: string; status: string }
  },
  /** Waits for its end. */
  async ended({ id }: { id: string }) {
    await t.jobs.ended(id)
    return (await ada.get(`${path}/${id}`)).json
  },
  async linesOf({ id }: { id: string }) {
    const { json } = await ada.get(`${path}/${id}/logs?limit=10000`)
    return json.items.map((line: { text: string }) => line.text) as string[]
  },
  async isRunning({ id }: { id: string }) {
    return (await ada.get(`${path}/${id}`)).json.status === 'running'
  },
  containers: () =>
    t.docker.listContainers({ labels: [`davit.instance=${t.instanceId}`], all: true }),
  /** Attaches to a run with a session of the client. */
  attach({ id }: { id: string }, { server = listening(t), headers = {} } = {}) {
    const shell = new Shell(`ws://127.0.0.1:${server.port}${path}/${id}/attach`, {
      Cookie: `svc_session=${aSession(t, ada.user.id)}`,
      ...headers,
    })
    onTestFinished(async () => {
      shell.close()
      await until(() => t.streams.size === 0)
    })
    return shell
  },
})
