import { afterAll, expect, onTestFinished, test } from 'bun:test'
import { auditEvents } from '../../src/db/schema.ts'
import { previewForm } from '../../src/previews/settings.ts'
import { addSource } from '../git/source.ts'
import { simulatedApp, testApp, withAda } from '../support/app.ts'
import { startProviderServer } from '../support/provider-server.ts'
import { expectRefusals } from '../support/refusals.ts'
import { until } from '../support/until.ts'
import { aProject, post, secret, sent } from '../webhooks/senders.ts'
import { aPull, hash } from './pulls.ts'

const provider = startProviderServer('github')
afterAll(() => provider.stop())

const defaults = {
  enabled: false,
  max: 5,
  idleDays: 7,
  services: 'none',
  variables: [],
  forks: 'never',
}

async function aPage() {
  const { t, ada } = withAda(simulatedApp({}, { jobsWait: true }))
  const project = await aProject(ada)
  return { t, ada, project, path: `/projects/${project.id}/previews` }
}

test('they are off until they are turned on, change one by one, and null restores a default', async () => {
  const { t, ada, path } = await aPage()
  expect((await ada.get(path)).json).toEqual(defaults)
  const changed = await ada.put(path, { enabled: true, max: 50, idleDays: 90 })
  expect(changed.json).toEqual({ ...defaults, enabled: true, max: 50, idleDays: 90 })
  await ada.put(path, { services: 'fresh', forks: 'approve', max: null })
  expect((await ada.get(path)).json).toEqual({
    ...{ ...defaults, enabled: true, idleDays: 90, services: 'fresh', forks: 'approve' },
  })
  const events = t.db.select().from(auditEvents).all()
  expect(events.filter(({ action }) => action === 'previews.changed')).toBeArrayOfSize(2)
})

test('wrong ones are refused by the name of their field', async () => {
  const { t, ada, path } = await aPage()
  await expectRefusals(t, ada, {
    ...{ method: 'PUT', path, schema: previewForm, valid: { max: 5 } },
    notShown: ['enabled', 'services', 'forks'],
    wrong: {
      enabled: ['perhaps'],
      max: [0, 51, 1.5, 'many', '<b>'],
      idleDays: [0, 91, '-1'],
      services: ['all', '<b>'],
      variables: [['A B'], ['NOT_THERE'], ['A', 'A'], '1<b>'],
      forks: ['always'],
    },
  })
})

test('they are the owner’s alone, and of projects that have pull requests', async () => {
  const { t, ada, path } = await aPage()
  const eve = t.logIn('eve@example.com')
  expect((await eve.put(path, { enabled: true })).status).toBe(404)
  const image = await ada.post('/projects', { name: 'of an image', image: 'busybox:1' })
  const ofImage = `/projects/${image.json.id}/previews`
  expect((await ada.put(ofImage, { enabled: true })).status).toBe(409)
  expect((await ada.page(ofImage)).status).toBe(200)
  const local = await aProject(ada, { repositoryUrl: `file://${t.dataDir}/app.git` })
  expect((await ada.put(`/projects/${local.id}/previews`, { enabled: true })).status).toBe(409)
})

test('the page has a form that works without a script', async () => {
  const { ada, path } = await aPage()
  expect((await ada.page(path)).text).toContain('No previews')
  const sent = { _method: 'PUT', enabled: '1', max: '3', idle_days: '', variables: '' }
  const { status, headers } = await ada.form(path, sent)
  expect([status, headers.get('Location')]).toEqual([303, path])
  expect((await ada.get(path)).json).toEqual({ ...defaults, enabled: true, max: 3 })
})

test('turning them on registers the webhook again, with events of pull requests', async () => {
  const ada = testApp({ DAVIT_URL: 'https://davit.example.com' }).logIn('ada@example.com')
  const repository = provider.add({ fullName: 'team/app' })
  const sourceId = await addSource(ada, provider, 'site')
  const { json } = await ada.post('/projects', { name: 'x', sourceId, repository: 'team/app' })
  const path = `/projects/${json.id}`
  await ada.post(`${path}/webhook`)
  const before = repository.hooks.map(({ id }) => id)
  expect(repository.hooks[0]!.events).not.toContain('pull_request')
  expect((await ada.put(`${path}/previews`, { enabled: true })).status).toBe(200)
  expect(repository.hooks).toBeArrayOfSize(1)
  expect(repository.hooks.map(({ id }) => id)).not.toEqual(before)
  expect(repository.hooks[0]!.events).toContain('pull_request')
  await ada.put(`${path}/previews`, { max: 2 })
  expect(repository.hooks).toBeArrayOfSize(1)
  const sibling = { name: 'y', sourceId, repository: 'team/app' }
  const { json: other } = await ada.post('/projects', sibling)
  await ada.post(`/projects/${other.id}/webhook`)
  expect(repository.hooks.map(({ events }) => events)).toEqual([
    expect.arrayContaining(['pull_request']),
  ])
  provider.mode = 'down'
  await ada.put(`${path}/previews`, { enabled: false })
  const refused = await ada.put(`${path}/previews`, { enabled: true })
  expect(refused.status).toBeGreaterThanOrEqual(500)
  expect((await ada.get(`${path}/previews`)).json.enabled).toBe(false)
})

test('what is changed while the provider is asked for pull requests stays changed', async () => {
  const ada = testApp({ DAVIT_URL: 'https://davit.example.com' }).logIn('ada@example.com')
  provider.mode = 'answer'
  provider.add({ fullName: 'team/both' })
  const sourceId = await addSource(ada, provider, 'site')
  const { json } = await ada.post('/projects', { name: 'x', sourceId, repository: 'team/both' })
  const path = `/projects/${json.id}/previews`
  await ada.post(`/projects/${json.id}/webhook`)
  const others = { forks: 'approve', max: 2 }
  await Promise.all([ada.put(path, { enabled: true }), ada.put(path, others)])
  expect((await ada.get(path)).json).toEqual({ ...defaults, ...others, enabled: true })
})

test('the commit of a preview gets a status from it, as from any environment', async () => {
  const env = { DAVIT_URL: 'https://davit.example.com' }
  const { t, ada } = withAda(simulatedApp(env))
  provider.mode = 'answer'
  const repository = provider.add({ fullName: 'team/site' })
  const sourceId = await addSource(ada, provider, 'site')
  const { json } = await ada.post('/projects', { name: 'y', sourceId, repository: 'team/site' })
  await ada.put(`/projects/${json.id}/settings`, { webhookSecret: secret })
  await ada.put(`/projects/${json.id}/previews`, { enabled: true })
  const stop = new AbortController()
  onTestFinished(() => stop.abort())
  void t.outbox.run(stop)
  const address = `${provider.baseUrl}/team/site.git`
  const pull = aPull({ repository: { full_name: 'team/site', clone_url: address } })
  const headers = { 'X-GitHub-Event': 'pull_request' }
  expect((await post(t, sent.github(pull, { headers }))).status).toBe(202)
  await until(() => repository.statuses.length > 0, 20)
  expect(repository.statuses[0]).toMatchObject({ sha: hash(1), context: 'davit/pr-7' })
})
