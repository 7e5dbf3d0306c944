import { afterAll, expect, test } from 'bun:test'
import { projects } from '../../src/db/schema.ts'
import { deleteProject, updateProject } from '../../src/projects/store.ts'
import { addSource } from '../git/source.ts'
import { testApp } from '../support/app.ts'
import { startProviderServer } from '../support/provider-server.ts'

const gitea = startProviderServer('gitea')
afterAll(() => gitea.stop())

/** A project of Ada whose repository the provider has. */
async function aProject(fullName: string) {
  const t = testApp({ DAVIT_URL: 'https://davit.example.com' })
  const ada = t.logIn('ada@example.com')
  const { hooks } = gitea.add({ fullName })
  const sourceId = await addSource(ada, gitea, 'work')
  const { json } = await ada.post('/projects', { name: 'site', sourceId, repository: fullName })
  const path = `/projects/${json.id}`
  return { t, ada, hooks, path, hook: `${path}/webhook` }
}

test('a webhook is one, however often it is asked for at once, and has the secret that counts', async () => {
  const { t, ada, hooks, path, hook } = await aProject('team/twice')
  const twice = (asked: string) => Promise.all([ada.post(asked), ada.post(asked)])
  await twice(hook)
  expect(hooks).toHaveLength(1)
  await twice(`${path}/webhook-secret`)
  const { id, webhookSecret } = t.db.select().from(projects).get()!
  const counts = t.secrets.open(webhookSecret, `webhook ${id}`)
  expect(hooks.map(({ secret }) => secret)).toEqual([counts])
})

test('where the provider fails once the old one is gone, the page says so until there is a new one', async () => {
  const { ada, hooks, path, hook } = await aProject('team/lost')
  const isOutdated = async () => (await ada.get(path)).json.webhookOutdated
  await ada.post(hook)
  hooks.splice = (at: number, count?: number) => {
    gitea.mode = 'down'
    return Array.prototype.splice.call(hooks, at, count!)
  }
  expect((await ada.post(`${path}/webhook-secret`)).status).toBe(502)
  expect([hooks, await isOutdated()]).toEqual([[], true])
  gitea.mode = 'answer'
  expect((await ada.post(hook)).status).toBe(201)
  expect(await isOutdated()).toBe(false)
})

test('a webhook that is registered for another repository stays when that of the one before is removed', async () => {
  const { t, ada, hooks, path, hook } = await aProject('team/before')
  const [source] = (await ada.get('/settings/git')).json.items
  const after = gitea.add({ fullName: 'team/after' })
  await ada.post(hook)
  const id = path.split('/')[2]!
  hooks.splice = (at: number, count?: number) => {
    updateProject(t.db, id, { webhookId: 'of the other' })
    return Array.prototype.splice.call(hooks, at, count!)
  }
  const moved = await ada.put(path, { sourceId: source.id, repository: 'team/after' })
  expect([moved.status, hooks, after.hooks]).toEqual([200, [], []])
  expect(t.db.select().from(projects).get()!.webhookId).toBe('of the other')
})

test('a project that is deleted while its webhook is removed is missing for its change', async () => {
  const { t, ada, hooks, path, hook } = await aProject('team/going')
  await ada.post(hook)
  hooks.splice = () => {
    deleteProject(t.db, path.split('/')[2]!)
    return []
  }
  const url = 'https://git.example.com/team/other.git'
  expect((await ada.put(path, { repositoryUrl: url })).status).toBe(404)
})
