import { expect, spyOn, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { containerPath } from '../../src/containers/place.ts'
import { listValues } from '../../src/db/queries.ts'
import { instances, workloads } from '../../src/db/schema.ts'
import { listLive } from '../../src/map/store.ts'
import { findItems } from '../../src/palette/items.ts'
import type { Item } from '../../src/palette/items.ts'
import { anApp, aService } from '../map/owned.ts'
import { testApp, withAda } from '../support/app.ts'
import type { TestClient } from '../support/client.ts'

const item = (name: string, kind: Item['kind'] = 'project', detail = ''): Item => ({
  ...{ kind, icon: 'circle', name, detail, url: '/' },
})

const namesOf = async (client: TestClient, q: string) =>
  (await client.get(`/search?q=${encodeURIComponent(q)}`)).json.items.map(
    ({ name }: { name: string }) => name,
  )

test('a beginning comes before the start of a word, and that before a part of one', () => {
  const items = ['ashop', 'my shop', 'shop', 'my-shop', 'other'].map((name) => item(name))
  const found = findItems([item('x', 'project', 'a shop'), ...items], 'SHOP')
  expect(found.map(({ name }) => name)).toEqual(['shop', 'my shop', 'my-shop', 'ashop', 'x'])
})

test('what has just that name comes before newer things whose names go on', () => {
  const items = ['shop-old', 'shop 2', 'Shop'].map((name) => item(name))
  const [first] = findItems([...items, item('shop', 'document')], 'shop')
  expect(first).toMatchObject({ kind: 'project', name: 'Shop' })
})

test('containers come in the order of their apps, then by process and replica, whenever they were started', async () => {
  const { t, ada } = withAda(testApp())
  const processes = { web: ['live', 'live'], cron: ['live'] } satisfies Record<string, 'live'[]>
  for (const name of ['older', 'newer']) await anApp(t, ada, { name, processes })
  const replicas = listLive(t.db, listValues(t.db, workloads.id)).filter(
    ({ process }) => process === 'web',
  )
  // a replica that another one has replaced is started later
  const [early, late] = replicas.slice(-2)
  for (const [slot, { containerId }] of [late!, early!].entries())
    t.db.update(instances).set({ slot }).where(eq(instances.containerId, containerId!)).run()
  const found = (await ada.get('/search?q=production+er')).json.items.filter(
    ({ kind }: Item) => kind === 'container',
  )
  expect(found.map(({ name, detail }: Item) => [detail, name])).toEqual(
    ['newer', 'older'].flatMap((app) =>
      ['cron', 'web', 'web'].map((name) => [`${app} / production`, name]),
    ),
  )
  expect(found.slice(1, 3).map(({ url }: Item) => url)).toEqual(
    [late!, early!].map(({ containerId }) => containerPath({ id: containerId! })),
  )
})

test('all words have to match, in any order, and equals are listed by their kind', () => {
  const items = [item('Deploy hello', 'action'), item('hello / staging', 'environment')]
  expect(findItems(items, 'hello deploy').map(({ name }) => name)).toEqual(['Deploy hello'])
  const same = [item('a', 'document'), item('a', 'service'), item('a', 'project')]
  expect(findItems(same, 'a').map(({ kind }) => kind)).toEqual(['project', 'service', 'document'])
})

test('what is typed is a text and no pattern, in any script', () => {
  const items = ['a.b', 'axb', 'متجر الكتب', '🚢 boats', 'Straße (1)'].map((name) => item(name))
  const found = (q: string) => findItems(items, q).map(({ name }) => name)
  expect(found('a.b')).toEqual(['a.b'])
  expect(found('الكتب')).toEqual(['متجر الكتب'])
  expect(found('🚢')).toEqual(['🚢 boats'])
  expect(found('STRASSE')).toEqual([])
  expect(found('(1)')).toEqual(['Straße (1)'])
  expect(found('.*')).toEqual([])
})

test('projects, environments, services, containers, settings, documents and actions are found', async () => {
  const { t, ada } = withAda(testApp())
  const app = await anApp(t, ada, { name: 'hello', processes: { web: ['live'], cron: ['live'] } })
  const service = aService(t, ada, { name: 'hello-db' })
  const { json } = await ada.get('/search?q=hello')
  expect(json.items.slice(0, 3)).toMatchObject([
    { kind: 'project', name: 'hello', url: `/projects/${app.projectId}`, method: 'GET' },
    { kind: 'environment', name: 'hello / production' },
    { kind: 'service', name: 'hello-db', url: `/services/${service}` },
  ])
  const actions = json.items.filter(({ method }: { method: string }) => method === 'POST')
  expect(actions).toMatchObject([
    {
      name: 'Deploy hello',
      url: `/projects/${app.projectId}/deployments`,
      fields: { environment_id: app.id },
    },
    { name: 'Restart hello', url: `/envs/${app.id}/restart`, fields: {} },
    { name: 'Restart hello-db', url: `/services/${service}/restart` },
  ])
  expect((await ada.get('/search?q=cron+hello')).json.items).toMatchObject([
    { kind: 'container', name: 'cron', detail: 'hello / production' },
  ])
  expect(await namesOf(ada, 'tokens')).toContain('Tokens')
  expect((await ada.get('/search?q=backup')).json.items).toContainEqual(
    expect.objectContaining({ kind: 'document' }),
  )
  expect(await namesOf(ada, 'new project')).toContain('New project')
})

test('what is stopped is started, and what never ran only deployed', async () => {
  const { t, ada } = withAda(testApp())
  await anApp(t, ada, { name: 'resting', processes: { web: ['stopped'] } })
  await anApp(t, ada, { name: 'fresh', processes: {} })
  aService(t, ada, { name: 'asleep', status: 'stopped' })
  expect(await namesOf(ada, 'start')).toEqual(
    expect.arrayContaining(['Start resting', 'Start asleep']),
  )
  expect(await namesOf(ada, 'restart')).toEqual([])
  expect(await namesOf(ada, 'deploy fresh')).toEqual(['Deploy fresh'])
})

test('only what is one’s own is found, and only what one may open', async () => {
  const t = testApp()
  const root = t.logInAsAdmin('root@example.com')
  const eve = t.logIn('eve@example.com')
  await anApp(t, eve, { name: 'hers' })
  aService(t, eve, { name: 'hers-db' })
  expect(await namesOf(root, 'hers')).toEqual([])
  expect(await namesOf(root, 'clean-up')).toContain('Clean-up')
  const settings = (await eve.get('/search?q=settings')).json.items
  expect(settings.map(({ url }: { url: string }) => url)).not.toContain('/settings/prune')
})

test('each result leads to a page that is there', async () => {
  const t = testApp()
  const root = t.logInAsAdmin('root@example.com')
  await anApp(t, root, { name: 'hello', processes: {} })
  aService(t, root, { name: 'hello-db' })
  const urls = new Set<string>()
  for (const q of ['', 'hello', 'settings', 'documentation', 'a', 'e', 'new', 'compose'])
    for (const { method, url } of (await root.get(`/search?q=${q}`)).json.items)
      if (method === 'GET') urls.add(url)
  expect(urls.size).toBeGreaterThan(25)
  for (const url of urls) expect((await root.page(url)).status, url).toBe(200)
})

test('a search asks the database as often among many projects as among few, and lists 20', async () => {
  const { t, ada } = withAda(testApp())
  const cost = async () => {
    const prepare = spyOn(t.db.$client, 'prepare')
    const { items } = (await ada.get('/search?q=shop')).json
    const count = prepare.mock.calls.length
    prepare.mockRestore()
    return { items, count }
  }
  await anApp(t, ada, { name: 'shop 0' })
  const few = await cost()
  expect(few.count).toBeGreaterThan(3)
  for (let at = 1; at < 100; at++) await anApp(t, ada, { name: `shop ${at}` })
  const many = await cost()
  expect(many.count).toBe(few.count)
  expect(many.items).toHaveLength(20)
})

test('without script the search is a page whose actions are forms', async () => {
  const { t, ada } = withAda(testApp())
  const name = '<b>Boats</b> 🚤 متجر'
  const app = await anApp(t, ada, { name })
  const { status, text } = await ada.page('/search?q=boats')
  expect(status).toBe(200)
  expect(text).toContain('&lt;b&gt;Boats&lt;/b&gt; 🚤 متجر')
  expect(text).not.toContain('<b>Boats')
  expect(text).toMatch(/<form[^>]* method="post" action="\/envs\/[\w-]+\/restart"/)
  expect(text).toContain(`name="environment_id" value="${app.id}"`)
  expect(text).not.toContain('role="option"')
  const refused = await ada.page(`/search?q=${'x'.repeat(101)}`)
  expect(refused.status).toBe(422)
  expect(refused.text).toContain('Must be 100 characters or fewer.')
})
