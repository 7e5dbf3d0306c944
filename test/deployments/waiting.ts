import { expect, onTestFinished } from 'bun:test'
import { join } from 'node:path'
import type { ProviderName } from '../../src/git/providers/registry.ts'
import { addSource } from '../git/source.ts'
import { simulatedApp, withAda } from '../support/app.ts'
import { aFolder } from '../support/folder.ts'
import { commitFiles, makeRepository } from '../support/git-server.ts'
import { startProviderServer } from '../support/provider-server.ts'
import { post, sent } from '../webhooks/senders.ts'
import { anApp } from './apps.ts'

export const minute = 60_000
export const { signal } = new AbortController()

/** A project of a provider on the simulated engine, whose environment waits for checks, and a clock. */
export async function waiting(kind: ProviderName = 'github') {
  const { t, ada } = withAda(simulatedApp())
  const repositories = aFolder()
  const server = startProviderServer(kind, { repositories })
  onTestFinished(() => void server.stop())
  const fullName = 'ada/app'
  const path = makeRepository(join(repositories, 'ada'), 'app.git')
  const repository = server.add({ fullName, private: true })
  const sourceId = await addSource(ada, server)
  const { json: project } = await ada.post('/projects', {
    ...{ name: 'site', sourceId, repository: fullName, branch: 'main' },
  })
  const secret = 'test-secret-0123456789'
  await ada.put(`/projects/${project.id}/settings`, { webhookSecret: secret })
  const env = (await ada.get(`/projects/${project.id}/envs`)).json.items[0]
  const envPath = `/projects/${project.id}/envs/${env.id}`
  const set = (changes: Record<string, unknown>) => ada.put(envPath, changes)
  expect((await set({ waitForChecks: true })).status).toBe(200)

  const names = { full_name: fullName, clone_url: project.repositoryUrl, default_branch: 'main' }
  const gitlab = {
    project: { path_with_namespace: fullName, git_http_url: project.repositoryUrl },
  }
  const deliver = async (payload: object, event: string) => {
    const header = { github: 'X-GitHub-Event', gitlab: 'X-Gitlab-Event', gitea: 'X-Gitea-Event' }
    const whole = kind === 'gitlab' ? { ...payload, ...gitlab } : { ...payload, repository: names }
    return (await post(t, sent[kind](whole, { headers: { [header[kind]]: event } }))).json
  }
  /** Commits and pushes; returns the deployment and its commit. */
  const push = async (text: string, ref = 'refs/heads/main') => {
    const after = commitFiles(path, anApp(text))
    const event = kind === 'gitlab' ? 'Push Hook' : 'push'
    const of = { ref, before: 'a'.repeat(40), after, object_kind: 'push' }
    const { deployments } = await deliver(of, event)
    return { id: deployments[0].id as string, deployment: deployments[0], commit: after }
  }
  const check = (
    sha: string,
    name: string,
    state: 'pending' | 'success' | 'failure',
    more = {},
  ) => {
    const known = repository.checks.find((one) => one.sha === sha && one.name === name)
    if (known) known.state = state
    else repository.checks.push({ sha, name, state, ...more })
  }
  const clock = { now: Date.now() }
  /** What the timer does that much later. */
  const later = (milliseconds: number) =>
    t.deps.checks.look({ signal }, (clock.now += milliseconds))
  const get = async (id: string) =>
    (await ada.get(`/projects/${project.id}/deployments/${id}`)).json
  return {
    ...{ t, ada, server, project, repository, set, envPath, deliver, push, check, later },
    get,
    clock,
  }
}

/** What a provider sends when a check has passed, as its documentation has it. */
export function passed(kind: ProviderName, sha: string): [payload: object, event: string] {
  if (kind === 'github')
    return [
      { action: 'completed', check_suite: { head_sha: sha, conclusion: 'success' } },
      'check_suite',
    ]
  if (kind === 'gitea')
    return [{ sha, state: 'success', context: 'test', commit: { id: sha } }, 'status']
  const of = { id: 31, ref: 'main', sha, status: 'success' }
  return [{ object_kind: 'pipeline', object_attributes: of }, 'Pipeline Hook']
}
