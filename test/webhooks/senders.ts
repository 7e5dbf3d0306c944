import { createHmac } from 'node:crypto'
import { requestId } from 'hono/request-id'
import { webhookRoutes } from '../../src/webhooks/routes.ts'
import { clientAddress } from '../../src/web/client-address.ts'
import { factory } from '../../src/web/factory.ts'
import { answerError } from '../../src/web/failures.tsx'
import { testApp } from '../support/app.ts'
import type { TestApp } from '../support/app.ts'
import type { TestClient } from '../support/client.ts'

export const secret = 'test-secret-0123456789'

/** Where a repository is, for a test that no engine and no git takes part in. */
export const unreachable = 'https://git.example.com/gordon/hello-world.git'

/** The receivers before their app, with a clock that the test sets, and an owner of projects. */
export function aReceiver(env: Record<string, string> = {}) {
  const t = testApp(env, { jobsWait: true }) // these tests are about what is decided
  const clock = { now: Date.now() }
  const app = factory.createApp().use(requestId(), clientAddress([]))
  app.onError(answerError)
  app.route('/', webhookRoutes(t.deps, { now: () => clock.now }))
  return { ...t, app, clock, owner: t.logIn('ada@example.com') }
}

export type Receiver = ReturnType<typeof aReceiver>

/** A project with this repository, which follows `main` and knows the secret. */
export async function aProject(
  client: TestClient,
  {
    repositoryUrl = unreachable,
    branch = 'main',
    webhookSecret = secret,
    name = `p-${Bun.randomUUIDv7()}`,
  }: { repositoryUrl?: string; branch?: string | null; webhookSecret?: string; name?: string } = {},
) {
  const { json: project } = await client.post('/projects', { name, repositoryUrl, branch })
  await client.put(`/projects/${project.id}/settings`, { webhookSecret })
  return project as { id: string; name: string }
}

/** A push as GitHub tells of it, with as little as it needs. */
export const aPush = (changes: Record<string, unknown> = {}) => ({
  ref: 'refs/heads/main',
  before: 'a'.repeat(40),
  after: 'ef98532add3b2feb7a137426bba1248724367df5',
  repository: {
    full_name: 'gordon/hello-world',
    clone_url: unreachable,
    default_branch: 'main',
  },
  pusher: { name: 'gordon' },
  ...changes,
})

/** The same as GitLab tells of it. */
export const aGitlabPush = () => ({
  object_kind: 'push',
  ref: 'refs/heads/main',
  before: 'a'.repeat(40),
  after: 'ef98532add3b2feb7a137426bba1248724367df5',
  total_commits_count: 0,
  user_username: 'gordon',
  project: {
    path_with_namespace: 'gordon/hello-world',
    git_http_url: 'https://git.example.com/gordon/hello-world.git',
    default_branch: 'main',
  },
})

export type Delivery = { path: string; headers: Record<string, string>; body: string | Uint8Array }

/** How each provider sends and signs. */
export const sent = {
  github: (payload: unknown, options: Options = {}) =>
    delivery('github', payload, options, (body) => ({
      'X-GitHub-Event': 'push',
      'X-GitHub-Delivery': Bun.randomUUIDv7(),
      'X-Hub-Signature-256': `sha256=${hmacOf(body, options.key)}`,
    })),
  gitea: (payload: unknown, options: Options = {}) =>
    delivery('gitea', payload, options, (body) => ({
      'X-GitHub-Event': 'push',
      'X-GitHub-Delivery': Bun.randomUUIDv7(),
      'X-Hub-Signature-256': `sha256=${hmacOf(body, options.key)}`,
      'X-Gitea-Event': 'push',
      'X-Gitea-Delivery': Bun.randomUUIDv7(),
      'X-Gitea-Signature': hmacOf(body, options.key),
    })),
  gitlab: (payload: unknown, options: Options = {}) =>
    delivery('gitlab', payload, options, () => ({
      'X-Gitlab-Event': 'Push Hook',
      'Idempotency-Key': Bun.randomUUIDv7(),
      'X-Gitlab-Token': options.key ?? secret,
    })),
}

type Options = {
  key?: string
  /** Null leaves a header out. */
  headers?: Record<string, string | null>
}

function delivery(
  provider: string,
  payload: unknown,
  { headers = {} }: Options,
  own: (body: string) => Record<string, string>,
): Delivery {
  const body = typeof payload === 'string' ? payload : JSON.stringify(payload)
  const all = { 'Content-Type': 'application/json', ...own(body), ...headers }
  const present = Object.entries(all).filter(
    (entry): entry is [string, string] => entry[1] !== null,
  )
  return { path: `/webhooks/${provider}`, headers: Object.fromEntries(present), body }
}

export const hmacOf = (body: string | Uint8Array, key = secret) =>
  createHmac('sha256', key).update(body).digest('hex')

/** Posts a delivery; answers the status and the parsed body. */
export async function post({ app }: Pick<Receiver, 'app'>, { path, headers, body }: Delivery) {
  const response = await app.request(path, { method: 'POST', headers, body })
  return {
    status: response.status,
    json: (await response.json()) as any,
    headers: response.headers,
  }
}

export const countDeployments = ({ db }: Pick<TestApp, 'db'>) =>
  db.$client.query<{ n: number }, []>('SELECT count(*) AS n FROM deployments').get()!.n

export const inbox = ({ db }: Pick<TestApp, 'db'>, projectId: string) =>
  db.$client
    .query<Record<string, any>, [string]>(
      'SELECT * FROM deliveries WHERE project_id = ? ORDER BY id',
    )
    .all(projectId)
