import { onTestFinished } from 'bun:test'
import type { TestClient } from '../support/client.ts'
import { fakeRegistry } from '../support/fake-registry.ts'
import { aPull, hash } from '../previews/pulls.ts'
import { bodies } from '../webhooks/registry-bodies.ts'
import { aGitlabPush, aProject, aPush, sent } from '../webhooks/senders.ts'

type Call = (
  route: string,
  step: { path?: string; body?: any; headers?: Record<string, string> },
) => Promise<any>

/** The pull request of a fork, and its approval. */
async function approve(call: Call, ada: TestClient) {
  const { id } = await aProject(ada)
  const settings = { enabled: true, max: 3, services: 'fresh', variables: [], forks: 'approve' }
  const path = `/projects/${id}`
  await call('PUT /projects/:id/previews', { path: `${path}/previews`, body: settings })
  await call('GET /projects/:id/previews', { path: `${path}/previews` })
  const headers = { 'X-GitHub-Event': 'pull_request' }
  const pull = sent.github(aPull({ from: 43, head: hash(1) }), { headers })
  const sentAs = { path: pull.path, body: String(pull.body), headers: pull.headers }
  await call('POST /webhooks/github', sentAs)
  const { items } = (await ada.get(`${path}/envs`)).json
  await call('POST /projects/:id/envs/:envId/approve', {
    ...{ path: `${path}/envs/${items[0].id}/approve`, body: { commit: hash(1) } },
  })
  await call('GET /projects/:id/envs/:envId', { path: `${path}/envs/${items[0].id}` })
}

/** A push that deploys, a ping, and a new image that is asked for, then reported. */
export async function receive(call: Call, ada: TestClient) {
  const registry = fakeRegistry()
  onTestFinished(() => registry.stop())
  registry.push('1.1')
  const body = { name: 'of an image', image: `${registry.image}:1.*` }
  const { id, registryHook } = await call('POST /projects', { body })
  await call('POST /projects/:id/image/check', { path: `/projects/${id}/image/check` })
  const path = new URL(registryHook).pathname
  await call('POST /hooks/registry/:secret', { path, body: bodies.gitea })

  await aProject(ada)
  const deliveries = [
    sent.github(aPush()),
    sent.github(aPush(), { headers: { 'X-GitHub-Event': 'ping' } }),
    sent.gitlab(aGitlabPush()),
    sent.gitlab(aGitlabPush(), { headers: { 'X-Gitlab-Event': 'Note Hook' } }),
    sent.gitea(aPush()),
    sent.gitea(aPush(), { headers: { 'X-Gitea-Event': 'issues' } }),
  ]
  for (const { path, body, headers } of deliveries)
    await call(`POST ${path}`, { path, body: String(body), headers })
  await approve(call, ada)
}
