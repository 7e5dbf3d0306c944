import { afterAll, beforeEach, describe, expect, onTestFinished, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { makeSshKey } from '../../src/platform/ssh-key.ts'
import { addSource, token } from '../git/source.ts'
import { testApp, withAda } from '../support/app.ts'
import type { TestClient } from '../support/client.ts'
import { commitFiles, makeRepository } from '../support/git-server.ts'
import type { Files } from '../support/git-server.ts'
import { startProviderServer } from '../support/provider-server.ts'
import { startSshServer } from '../support/ssh-server.ts'
import { anApp, aBuild, answerOf, deployed, finished, logOf, triggered } from './apps.ts'
import { reaches } from './events.ts'

const dir = mkdtempSync(join(tmpdir(), 'davit-source-'))
const server = startProviderServer('gitea', { repositories: dir })
let turn = 0
let fullName: string
let head: string

afterAll(() => {
  server.stop()
  rmSync(dir, { recursive: true, force: true })
})
beforeEach(() => {
  fullName = `ada/app${++turn}`
  server.mode = 'answer'
  server.requests.length = 0
})

/** With its outbox. */
function sendingApp() {
  const t = testApp()
  const stopped = new AbortController()
  onTestFinished(() => stopped.abort())
  void t.outbox.run(stopped)
  return t
}

/** A private repository of the provider with these files, and a project that builds it. */
async function aProjectOf(ada: TestClient, files: Files) {
  const path = makeRepository(join(dir, 'ada'), `app${turn}.git`)
  head = commitFiles(path, files)
  const repository = server.add({ fullName, private: true })
  const sourceId = await addSource(ada, server)
  const origin = { sourceId, repository: fullName }
  const { json } = await ada.post('/projects', { name: 'site', ...origin })
  return { id: json.id as string, repository }
}

/** The statuses that the provider got, as soon as there are so many. */
async function statusesOf({ statuses }: { statuses: Record<string, unknown>[] }, count: number) {
  const deadline = Date.now() + 10_000
  while (statuses.length < count && Date.now() < deadline) await Bun.sleep(5)
  return statuses
}

describe('a private repository of a source', () => {
  test('is deployed, and its commit shows how that went', async () => {
    const { ada } = withAda(sendingApp())
    const { id, repository } = await aProjectOf(ada, anApp('private'))
    const deployment = await deployed(ada, id)
    expect(deployment).toMatchObject({ status: 'running', commit: { hash: head } })
    expect(await answerOf(deployment)).toBe('private')
    const log = (await logOf(ada, deployment)).join('\n')
    expect(log).not.toContain(token)
    expect(log).not.toContain(btoa(`oauth2:${token}`))
    const [first, second, ...more] = await statusesOf(repository, 2)
    expect(first).toMatchObject({ sha: head, state: 'pending', context: 'davit/production' })
    expect(first!.target_url).toEndWith(`/projects/${id}/deployments/${deployment.id}`)
    expect(second).toMatchObject({ sha: head, state: 'success', target_url: deployment.url })
    expect(more).toEqual([])

    const path = `/projects/${id}/deployments/${deployment.id}/rollback`
    const { json: rollback } = await ada.post(path)
    await finished(ada, rollback)
    const states = (await statusesOf(repository, 4)).map(({ state }) => state)
    expect(states).toEqual(['pending', 'success', 'pending', 'success'])
  })

  test('that fails says at its commit which step failed, and why', async () => {
    const ada = sendingApp().logIn('ada@example.com')
    const { id, repository } = await aProjectOf(ada, aBuild(`echo ${'long '.repeat(60)}; exit 3`))
    const deployment = await deployed(ada, id)
    expect(deployment).toMatchObject({ status: 'failed', error: { step: 'building' } })
    const [, failure] = await statusesOf(repository, 2)
    expect(failure).toMatchObject({ sha: head, state: 'failure' })
    expect(failure!.description).toContain('building')
    expect(String(failure!.description).length).toBeLessThanOrEqual(140)
  })

  test('explains when the token is refused', async () => {
    const ada = sendingApp().logIn('ada@example.com')
    const { id } = await aProjectOf(ada, anApp('private'))
    server.tokens.clear()
    const deployment = await deployed(ada, id)
    expect(deployment).toMatchObject({
      status: 'failed',
      error: { step: 'cloning', code: 'authentication' },
    })
    expect(deployment.error.message).toContain('refused the token of the git source')
    expect(JSON.stringify(deployment)).not.toContain(token)
  })

  test('keeps its token out of the log of a build that prints it', async () => {
    const ada = sendingApp().logIn('ada@example.com')
    const { id } = await aProjectOf(ada, aBuild(`echo "it is ${token}"; exit 1`))
    const deployment = await deployed(ada, id)
    const log = (await logOf(ada, deployment)).join('\n')
    expect(log).toContain('it is ***')
    expect(log + JSON.stringify(deployment)).not.toContain(token)
  })
})

describe('a provider that takes no status', () => {
  test('changes nothing but a line in the log', async () => {
    const ada = sendingApp().logIn('ada@example.com')
    const { id, repository } = await aProjectOf(ada, aBuild('true'))
    server.tokens.set(token, { login: 'ada', id: 42, scopes: ['read:user', 'read:repository'] })
    const [environment] = (await ada.get(`/projects/${id}/envs`)).json.items
    await ada.put(`/projects/${id}/envs/${environment.id}`, { port: 0 })
    const deployment = await deployed(ada, id)
    expect(deployment.status).toBe('running')
    const lines = await logOf(ada, deployment)
    const said = lines.filter((line) => line.includes('the status of this commit'))
    expect(said).toHaveLength(1)
    expect(said[0]).toContain('may not')
    expect(repository.statuses).toEqual([])
  })

  test('and answers nothing holds up no deployment', async () => {
    const ada = sendingApp().logIn('ada@example.com')
    const { id } = await aProjectOf(ada, anApp('on its own'))
    const deployment = await triggered(ada, id)
    await reaches(ada, deployment, 'building')
    server.mode = 'hang'
    expect((await finished(ada, deployment)).status).toBe('running')
    const again = await ada.post(`/projects/${id}/deployments/${deployment.id}/rollback`)
    expect((await finished(ada, again.json)).status).toBe('running')
  })
})

test('a repository behind sshd is deployed with the key of the project', async () => {
  const sshd = await startSshServer()
  try {
    const ada = sendingApp().logIn('ada@example.com')
    const path = makeRepository(join(dir, 'ssh'), 'app.git')
    commitFiles(path, anApp('by key'))
    sshd.allow(makeSshKey().publicKey)
    const { json: project } = await ada.post('/projects', {
      name: 'site',
      repositoryUrl: sshd.urlOf(path),
    })
    const refused = await deployed(ada, project.id)
    expect(refused).toMatchObject({ status: 'failed', error: { code: 'authentication' } })
    expect(refused.error.message).toContain('deploy key')
    sshd.allow(project.deployKey)
    const deployment = await deployed(ada, project.id)
    expect(deployment.status).toBe('running')
    expect(await answerOf(deployment)).toBe('by key')
    expect((await logOf(ada, deployment)).join('\n')).not.toContain('PRIVATE KEY')
  } finally {
    await sshd.stop()
  }
}, 120_000)

test('what a token deploys says so', async () => {
  const { t, ada } = withAda(sendingApp())
  const { json: project } = await ada.post('/projects', {
    name: 'site',
    repositoryUrl: 'https://git.example.com/team/app.git',
  })
  const { json: made } = await ada.post('/settings/tokens', { name: 'ci', scopes: ['deploy'] })
  const answer = await t.app.request(`/projects/${project.id}/deployments`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${made.token}`, Accept: 'application/json' },
  })
  expect(await answer.json()).toMatchObject({ trigger: 'api', triggeredBy: 'ada@example.com' })
  expect((await ada.post(`/projects/${project.id}/deployments`)).json.trigger).toBe('manual')
})
