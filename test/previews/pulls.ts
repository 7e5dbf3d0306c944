import { expect, onTestFinished } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { labelsFor } from '../../src/docker/labels.ts'
import { openVariables } from '../../src/environments/variable-store.ts'
import { keepPreviews } from '../../src/previews/keep.ts'
import { listReturning } from '../../src/webhooks/store.ts'
import type { Periodic, Scheduler } from '../../src/platform/scheduler.ts'
import { definitionOf } from '../../src/services/stored-definition.ts'
import { findService } from '../../src/services/store.ts'
import { bringBack } from '../../src/webhooks/replay.ts'
import { idle } from '../services/instances.ts'
import { aFolder } from '../support/folder.ts'
import { simulatedApp, withAda } from '../support/app.ts'
import type { TestOverrides } from '../support/app.ts'
import { TestClock } from '../support/clock.ts'
import { until } from '../support/until.ts'
import { aProject, aPush, inbox, post, sent } from '../webhooks/senders.ts'

export const day = 24 * 3_600_000

export const hash = (of: string | number) => String(of).padStart(40, 'c0ffee')

type Changes = {
  action?: string
  number?: number
  title?: string
  head?: string
  ref?: string
  /** Null for a fork that was deleted. */
  from?: number | null
  url?: string
  state?: string
  repository?: object
  updatedAt?: string
}

const store = `
x-davit:
  name: Store
  description: Keeps things.
  category: database
  version: '1'
  variables:
    STORE_PASSWORD: { generate: password, secret: true }
    STORE_USER: { default: app }
  provides: { url: 'store://\${STORE_USER}:\${STORE_PASSWORD}@\${HOST}:7000' }
services:
  data:
    { ${idle}, healthcheck: { disable: true }, volumes: ['data:/data'],
      environment: { U: '\${STORE_USER}', P: '\${STORE_PASSWORD}' } }
volumes: { data: {} }
`

/** As GitHub tells of it. */
export const aPull = ({
  action = 'opened',
  number = 7,
  title = 'Add a page',
  head = hash(1),
  ref = 'add-page',
  from = 42,
  url = `https://git.example.com/gordon/hello-world/pull/${number}`,
  state = action === 'closed' ? 'closed' : 'open',
  repository = {},
  updatedAt,
}: Changes = {}) => ({
  action,
  number,
  pull_request: {
    ...{ number, title, html_url: url, state, draft: false, merged: false },
    updated_at: updatedAt,
    head: { ref, sha: head, repo: from === null ? null : { id: from } },
    base: { ref: 'main', repo: { id: 42 } },
  },
  repository: { ...aPush().repository, id: 42, ...repository },
  sender: { login: 'gordon' },
})

/** A project of a repository on the simulated engine, where no job begins, with previews turned on. */
export async function setUp(
  settings: Record<string, unknown> = {},
  overrides: TestOverrides = {},
  of: Parameters<typeof aProject>[1] = {},
) {
  const clock = new TestClock(new Date().toISOString())
  const templates = aFolder()
  writeFileSync(join(templates, 'store.yaml'), store)
  const { t, ada } = withAda(
    simulatedApp({ DAVIT_TEMPLATES_DIR: templates }, { clock, jobsWait: true, ...overrides }),
  )
  const project = await aProject(ada, of)
  const path = `/projects/${project.id}`
  const base = (await ada.get(`${path}/envs`)).json.items[0]
  const change = (changes: Record<string, unknown>) => ada.put(`${path}/previews`, changes)
  const saved = await change({ enabled: true, ...settings })
  expect(saved.status, saved.text).toBe(200)
  const tell = (changes: Changes = {}) => {
    const headers = { 'X-GitHub-Event': 'pull_request' }
    return post(t, sent.github(aPull(changes), { headers }))
  }
  const environments = async () => (await ada.get(`${path}/envs`)).json.items
  const find = async (name = 'pr-7') =>
    (await environments()).find((one: { name: string }) => one.name === name)
  const deployments = async () => (await ada.get(`${path}/deployments`)).json.items
  const services = async () => (await ada.get('/services')).json.instances
  const stop = new AbortController()
  onTestFinished(() => stop.abort())
  const options = {
    signal: stop.signal,
    listReturning: () => listReturning(t.db),
    bringBack: (of: Parameters<typeof bringBack>[1]) => bringBack(t.deps, of),
  }
  return {
    ...{ t, ada, clock, project, path, base, change, tell, environments, find, deployments },
    link: async () => {
      const fields = { name: 'main', STORE_USER: 'ada', variables: { STORE: 'url' } }
      const made = await ada.post(`/envs/${base.id}/links`, { template: 'store', ...fields })
      expect(made.status, made.text).toBe(201)
    },
    services,
    servicesLeft: (count: number) =>
      until(async () => {
        await clock.pass(0)
        return (await services()).length === count
      }, 20),
    valuesOf: async (id: string) =>
      (await definitionOf(t, findService(t.db, { id, ownerId: ada.user.id }))).values,
    push: (changes: Record<string, unknown>) => post(t, sent.github(aPush(changes))),
    commits: () =>
      t.db.$client
        .query<{ hash: string }, []>('SELECT requested_commit AS hash FROM deployments ORDER BY id')
        .all()
        .map(({ hash }) => hash),
    openVariables: (id: string) =>
      openVariables(t.db, t.secrets, id).map(({ key, value, secret, buildTime }) => ({
        ...{ key, value, secret, buildTime },
      })),
    labels: (of: { environmentId: string }) =>
      labelsFor({
        instanceId: t.instanceId,
        kind: 'app',
        ownerId: ada.user.id,
        projectId: project.id,
        ...of,
      }),
    reasons: () => inbox(t, project.id).map(({ decision, reason }) => [decision, reason]),
    keep: () => void keepPreviews(t.deps, options),
    /** What the scheduler would be told. */
    keeper() {
      let task: Periodic
      const keep = async (kept: Periodic) => void (task = kept)
      const scheduler = { wake() {}, now: clock.now, keep }
      void keepPreviews({ ...t.deps, scheduler: scheduler as unknown as Scheduler }, options)
      const { next, run } = task!
      return { next: (now: number) => next(now, { wasSet: false }), run }
    },
    gone: (name = 'pr-7') =>
      until(async () => {
        await clock.pass(0) // what is due begins
        return (await find(name)) === undefined
      }, 20),
  }
}
