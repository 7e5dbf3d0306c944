import { expect, onTestFinished } from 'bun:test'
import { auditEvents } from '../../src/db/schema.ts'
import { keepFreezes } from '../../src/deployments/keep-freezes.ts'
import { simulatedApp, withAda } from '../support/app.ts'
import { TestClock } from '../support/clock.ts'
import { aPush, post, sent } from '../webhooks/senders.ts'
import { anApp, aProject } from './apps.ts'

export const hour = 3_600_000
export const iso = (from: number) => new Date(from).toISOString()

/** A project on the simulated engine, its freezes, and a clock. */
export async function setUp() {
  const now = Date.now()
  const clock = new TestClock(iso(now))
  const { t, ada } = withAda(simulatedApp({}, { clock }))
  const project = await aProject(t, ada, anApp('first'))
  const secret = 'test-secret-0123456789'
  await ada.put(`/projects/${project.id}/settings`, { webhookSecret: secret, branch: 'main' })
  const stop = new AbortController()
  onTestFinished(() => stop.abort())
  const deployments = `/projects/${project.id}/deployments`
  const environment = `/projects/${project.id}/envs/${project.environmentId}`
  const freezes = `/envs/${project.environmentId}/freezes`
  const freeze = async (more: Record<string, unknown> = {}) => {
    const made = await ada.post(freezes, {
      ...{ from: iso(now), until: iso(now + 2 * hour), reason: 'the fair' },
      ...more,
    })
    expect(made.status, made.text).toBe(201)
    return made.json
  }
  const { repositoryUrl } = (await ada.get(`/projects/${project.id}`)).json
  const push = async (text: string) => {
    const after = project.repository.commit(anApp(text))
    const repository = { full_name: 'ada/site', clone_url: repositoryUrl, default_branch: 'main' }
    const { status, json } = await post(t, sent.github(aPush({ after, repository })))
    expect(status, JSON.stringify(json)).toBe(202)
    return { ...json.deployments[0], head: after }
  }
  const run = () => void keepFreezes(t.deps, stop)
  const list = async () => (await ada.get(deployments)).json.items
  const get = async ({ id }: { id: string }) => (await ada.get(`${deployments}/${id}`)).json
  const events = (action: string) =>
    t.db
      .select()
      .from(auditEvents)
      .all()
      .filter((event) => event.action === action)
  return {
    ...{ now, clock, t, ada, project, deployments, environment, freezes },
    ...{ freeze, push, run, list, get, events, stop },
  }
}
