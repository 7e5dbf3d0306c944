import { afterAll, describe, expect, test } from 'bun:test'
import { findUser } from '../../src/accounts/store.ts'
import { transferAll } from '../../src/admin/transfer.ts'
import { projects } from '../../src/db/schema.ts'
import { addSource } from '../git/source.ts'
import { testApp } from '../support/app.ts'
import type { TestApp } from '../support/app.ts'
import { startProviderServer } from '../support/provider-server.ts'
import { addProject, pathOf, people } from './people.ts'

const gitea = startProviderServer('gitea')
afterAll(() => gitea.stop())

describe('the webhook secret of a project that is given away', () => {
  const asBob = 'the secret that bob knows'

  test('is replaced at the provider where Davit registered the webhook', async () => {
    const t = testApp({ DAVIT_URL: 'https://davit.example.com' })
    const { root, bob, eve } = people(t)
    const repository = gitea.add({ fullName: 'team/hooked' })
    const sourceId = await addSource(bob, gitea, 'hooked')
    const { json } = await bob.post('/projects', { name: 'a', sourceId, repository: 'team/hooked' })
    await bob.put(`/projects/${json.id}/settings`, { webhookSecret: asBob })
    await bob.post(`/projects/${json.id}/webhook`)
    expect(repository.hooks).toMatchObject([{ secret: asBob }])
    await root.delete(pathOf(bob), { heirId: eve.user.id })
    expect(repository.hooks).toHaveLength(1)
    expect(repository.hooks[0]!.secret).not.toBe(asBob)
    expect((await eve.get(`/projects/${json.id}`)).json.webhookOutdated).toBe(false)
  })

  test('stays replaced when its former owner changes it as they are deleted', async () => {
    const t = testApp({ DAVIT_URL: 'https://davit.example.com' })
    const { root, bob, eve } = people(t)
    const { hooks } = gitea.add({ fullName: 'team/raced' })
    const sourceId = await addSource(bob, gitea, 'raced')
    const { json } = await bob.post('/projects', { name: 'a', sourceId, repository: 'team/raced' })
    const path = `/projects/${json.id}`
    await bob.post(`${path}/webhook`)
    const add = hooks.push
    hooks.push = (...added) => {
      hooks.push = add
      transferAll(t, { id: bob.user.id, by: findUser(t.db, root.user.id), heirId: eve.user.id })
      return hooks.push(...added)
    }
    const changes = { webhookSecret: asBob, contextDir: 'of-bob' }
    expect((await bob.put(`${path}/settings`, changes)).status).toBe(404)
    const { webhookSecret, contextDir } = t.db.select().from(projects).get()!
    expect(t.secrets.open(webhookSecret, `webhook ${json.id}`)).not.toBe(asBob)
    expect(contextDir).toBe('.')
    expect((await eve.get(`${path}/webhook`)).json.own).toBe(false)
  })

  test('is replaced, and the page says what to do, where Davit can’t tell the provider', async () => {
    const t = testApp()
    const { root, bob, eve } = people(t)
    const { json } = await bob.post('/projects', {
      name: 'a',
      repositoryUrl: 'https://git.example.com/team/app.git',
    })
    await bob.put(`/projects/${json.id}/settings`, { webhookSecret: asBob })
    const push = (secret: string) => signedPush(t, secret)
    expect((await push(asBob)).status).not.toBe(401)
    await root.delete(pathOf(bob), { heirId: eve.user.id })
    expect((await push(asBob)).status).toBe(401)
    expect((await eve.get(`/projects/${json.id}`)).json.webhookOutdated).toBe(true)
    const warning = 'uses an old secret'
    expect((await eve.page(`/projects/${json.id}`)).text).toContain(warning)

    const { webhookSecret } = (await eve.post(`/projects/${json.id}/webhook-secret`)).json
    expect((await push(webhookSecret)).status).not.toBe(401)
    expect((await eve.get(`/projects/${json.id}`)).json.webhookOutdated).toBe(false)
    expect((await eve.page(`/projects/${json.id}`)).text).not.toContain(warning)
  })

  test('is no trouble of a project that the webhook of another one reaches', async () => {
    const t = testApp()
    const { root, bob, eve } = people(t)
    const repositoryUrl = 'https://git.example.com/team/app.git'
    const first = (await bob.post('/projects', { name: 'a', repositoryUrl })).json
    const second = (await bob.post('/projects', { name: 'b', repositoryUrl })).json
    await bob.put(`/projects/${first.id}/settings`, { webhookSecret: asBob })
    await signedPush(t, asBob)
    const [reached] = (await bob.get(`/projects/${second.id}/deliveries`)).json.items
    expect(reached).toMatchObject({ signatureOk: true, signedBy: first.id })
    await root.delete(pathOf(bob), { heirId: eve.user.id })
    expect((await eve.get(`/projects/${first.id}`)).json.webhookOutdated).toBe(true)
    expect((await eve.get(`/projects/${second.id}`)).json.webhookOutdated).toBe(false)
  })

  test('is no trouble where nothing was ever delivered', async () => {
    const t = testApp()
    const { root, bob } = people(t)
    const { id } = addProject(t, bob, 'quiet')
    await root.delete(pathOf(bob))
    expect((await root.get(`/projects/${id}`)).json.webhookOutdated).toBe(false)
  })
})

/** A push of a branch that nothing follows, signed as Gitea does. */
function signedPush({ app }: TestApp, secret: string) {
  const body = JSON.stringify({
    ref: 'refs/heads/nobody-follows-this',
    before: '0'.repeat(40),
    after: 'a'.repeat(40),
    repository: {
      full_name: 'team/app',
      clone_url: 'https://git.example.com/team/app.git',
      html_url: 'https://git.example.com/team/app',
      default_branch: 'main',
    },
    commits: [],
  })
  const signature = new Bun.CryptoHasher('sha256', secret).update(body).digest('hex')
  return app.request('/webhooks/gitea', {
    method: 'POST',
    body,
    headers: {
      'Content-Type': 'application/json',
      'X-Gitea-Event': 'push',
      'X-Gitea-Delivery': crypto.randomUUID(),
      'X-Gitea-Signature': signature,
    },
  })
}
