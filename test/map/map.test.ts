import { describe, expect, test } from 'bun:test'
import { map } from '../../src/map/json.ts'
import { insertDomain } from '../../src/addresses/store.ts'
import { instances } from '../../src/db/schema.ts'
import { testApp, withAda } from '../support/app.ts'
import type { Answer } from '../support/client.ts'
import { aDomain, anApp, aService, requested, servedByCaddy } from './owned.ts'

type Map = ReturnType<ReturnType<typeof map>['parse']>
type Node = Map['nodes'][number]

const read = ({ json }: Answer): Map => map().strict().parse(json)
const named = ({ nodes }: Map, name: string): Node => nodes.find((node) => node.name === name)!
const names = ({ nodes }: Map, ids: string[] = []) =>
  nodes.filter(({ id }) => ids.includes(id)).map(({ name }) => name)

describe('a map', () => {
  test('has the domains, apps and services of a user, and what each of them needs', async () => {
    const { t, ada } = withAda(testApp())
    const db = aService(t, ada, { name: 'shop-db' })
    const shop = await anApp(t, ada, {
      name: 'shop',
      hosts: ['shop.example.com'],
      uses: [db],
      processes: { web: ['live', 'live'], worker: ['live', 'stopped'] },
    })
    servedByCaddy(t)
    const found = read(await ada.get('/map'))
    const domain = named(found, 'shop.example.com')
    expect(found.nodes).toMatchObject([
      { kind: 'domain', state: 'ready', project: { name: 'shop' } },
      {
        ...{ kind: 'app', name: 'production', state: 'unhealthy', note: '3 of 4 containers' },
        processes: [
          { name: 'web', running: 2, wanted: 2, state: 'running' },
          { name: 'worker', running: 1, wanted: 2, state: 'running' },
        ],
        href: `/projects/${shop.projectId}/envs/${shop.id}`,
      },
      { kind: 'service', name: 'shop-db', state: 'running', note: 'postgres', project: null },
    ])
    expect(found.edges).toEqual([
      { from: domain.id, to: shop.id },
      { from: shop.id, to: db },
    ])
    expect(found.focus).toBeNull()
  })

  test('says what stops working with a node, and what it needs', async () => {
    const { t, ada } = withAda(testApp())
    const db = aService(t, ada, { name: 'shop-db' })
    const cache = aService(t, ada, { name: 'cache', template: 'redis' })
    for (const name of ['shop', 'blog'])
      await anApp(t, ada, { name, hosts: [`${name}.example.com`], uses: [db] })
    const other = await anApp(t, ada, {
      name: 'other',
      hosts: ['other.example.com'],
      uses: [cache],
    })
    aDomain(t, { serviceId: db }, 'db.example.com')
    servedByCaddy(t)
    const focus = async (id: string) => {
      const found = read(await ada.get(`/map?focus=${id}`))
      return {
        dependents: names(found, found.focus!.dependents).toSorted(),
        needs: names(found, found.focus!.needs),
      }
    }
    expect(await focus(db)).toEqual({
      dependents: [
        'blog.example.com',
        'db.example.com',
        'production',
        'production',
        'shop.example.com',
      ],
      needs: [],
    })
    expect(await focus(other.id)).toEqual({ dependents: ['other.example.com'], needs: ['cache'] })
    const { text } = await ada.page(`/map?focus=${db}`)
    const said = text.replaceAll(/<[^>]*>/g, '')
    expect(said).toContain('If shop-db stops')
    expect(said).toContain(
      'These apps can no longer reach it: shop / production (Running), blog / production',
    )
    expect(said).toContain('This address won’t respond: db.example.com (Ready).')
    expect(said).toMatch(/lead to apps that need it, and may show errors: shop\.example\.com/)
    expect(said).not.toMatch(/lose it[^.]*other/)
    expect((await ada.page(`/map?focus=${cache}`)).text).toContain(
      'This app can no longer reach it',
    )
  })

  test('takes a redirect for what leads there, not for what stops with its app', async () => {
    const { t, ada } = withAda(testApp())
    const { id } = await anApp(t, ada, { name: 'shop', hosts: ['shop.example.com'] })
    const add = (host: string, redirectTo: string) =>
      insertDomain(t.db, { environmentId: id }, { host, redirectTo }, t).id
    const back = add('www.shop.example.com', 'https://shop.example.com')
    const away = add('old.example.com', 'https://elsewhere.example.net')
    servedByCaddy(t)
    const found = read(await ada.get('/map'))
    expect(found.edges.map(({ from }) => from)).toContain(back)
    expect(found.edges.map(({ from }) => from)).not.toContain(away)
    expect(named(found, 'old.example.com').note).toBe('Redirects to https://elsewhere.example.net')
  })

  test('follows states: what is stopped, failed, unhealthy or in a loop, and its addresses', async () => {
    const { t, ada } = withAda(testApp())
    const stopped = { web: ['stopped' as const] }
    await anApp(t, ada, { name: 'off', hosts: ['off.example.com'], processes: stopped })
    await anApp(t, ada, { name: 'fresh', hosts: ['fresh.example.com'], processes: {} })
    const looping = await anApp(t, ada, { name: 'loop', hosts: ['loop.example.com'] })
    servedByCaddy(t)
    const states = async () =>
      Object.fromEntries(
        read(await ada.get('/map')).nodes.map(({ name, project, state }) => [
          name === 'production' ? project!.name : name,
          state,
        ]),
      )
    expect(await states()).toEqual({
      ...{ off: 'stopped', 'off.example.com': 'not_responding' },
      ...{ fresh: 'not_deployed', 'fresh.example.com': 'not_responding' },
      ...{ loop: 'running', 'loop.example.com': 'ready' },
    })
    t.deps.observed.isLooping = () => true
    expect(await states()).toMatchObject({ loop: 'crash_looping' })
    expect((await ada.page('/map')).text).toContain('One needs attention')
    t.deps.observed.isLooping = () => false
    t.db.update(instances).set({ state: 'unhealthy' }).run()
    expect((await ada.get(`/map?focus=${looping.id}`)).json.nodes).toContainEqual(
      expect.objectContaining({ id: looping.id, state: 'unhealthy' }),
    )
  })

  test('counts the requests of the last minutes, and those of them that failed', async () => {
    const { t, ada } = withAda(testApp())
    const { id } = await anApp(t, ada, { name: 'shop', hosts: ['a.example.com', 'b.example.com'] })
    const [quiet] = read(await ada.get('/map')).nodes
    expect(quiet).toMatchObject({ requestsPerMinute: null, errorShare: null })
    servedByCaddy(t)
    requested(t, { sourceId: id, key: 'a.example.com' }, { requests: 1000, failed: 30 })
    const found = read(await ada.get('/map'))
    for (const busy of [named(found, 'a.example.com'), named(found, 'production')]) {
      expect(busy.errorShare).toBe(0.03)
      expect(busy.requestsPerMinute).toBeGreaterThanOrEqual(200) // over five minutes at most
    }
    expect(named(found, 'b.example.com')).toMatchObject({ requestsPerMinute: 0, errorShare: 0 })
    expect((await ada.page('/map')).text).toMatch(/Ready, 2\d\d\/min, 3 % errors/)
  })

  test('has the port of the host where no name leads to an app', async () => {
    const { t, ada } = withAda(testApp())
    const { id } = await anApp(t, ada, { name: 'shop', hosts: ['shop.example.com'] })
    const found = read(await ada.get('/map'))
    expect(named(found, 'shop.example.com').state).toBe('off')
    expect(found.nodes[1]).toMatchObject({ id: `port-${id}`, kind: 'domain', state: 'ready' })
    expect(found.nodes[1]!.name).toMatch(/^127\.0\.0\.\d:\d+$/)
    const { text } = await ada.page('/map')
    expect(text).toContain('2 addresses, 1 app')
    expect(text).toContain('Addresses</text>')
    expect(text).toContain('Addresses</dt>')
    expect((await ada.page(`/map?focus=port-${id}`)).text).toContain('It needs')
    servedByCaddy(t)
    expect(read(await ada.get('/map')).nodes).toHaveLength(2)
  })

  test('of a project has no other, but the services that it uses', async () => {
    const { t, ada } = withAda(testApp())
    const [db, cache] = ['db', 'cache'].map((name) => aService(t, ada, { name }))
    const shop = await anApp(t, ada, { name: 'shop', uses: [db!] })
    await anApp(t, ada, { name: 'blog', uses: [db!, cache!] })
    const path = `/map?project=${shop.projectId}`
    expect(read(await ada.get(path)).nodes.map(({ name }) => name)).toEqual([
      expect.stringMatching(/^127/),
      'production',
      'db',
    ])
    const { text } = await ada.page(path)
    expect(text).toContain(
      '<title>\u2068shop\u2069 / \u2068production\u2069, Running, 1 of 1 container</title>',
    )
    expect(text).not.toContain('<title>\u2068blog')
    expect(text).toContain('Used by</dt>')
    const page = await ada.page(`/projects/${shop.projectId}`)
    expect(page.text).toMatch(/Connections.*<title>\u2068db\u2069/)
    expect(page.text).not.toContain('<title>\u2068cache')
  })

  test('shows one user nothing of another, and an admin only their own', async () => {
    const { t, ada } = withAda(testApp())
    const db = aService(t, ada, { name: 'secret-db' })
    const app = await anApp(t, ada, { name: 'secret', hosts: ['secret.example.com'], uses: [db] })
    for (const other of [t.logIn('bob@example.com'), t.logInAsAdmin()]) {
      expect((await other.get('/map')).json).toEqual({ nodes: [], edges: [], focus: null })
      const { text } = await other.page('/map')
      expect(text).not.toContain('secret')
      expect(text).toContain('Create a project first')
      await anApp(t, other, { name: `of ${other.user.email}` })
      expect((await other.page('/map')).text).not.toContain('secret')
      for (const query of [`project=${app.projectId}`, `focus=${app.id}`, `focus=${db}`]) {
        const { status, json } = await other.get(`/map?${query}`)
        expect(status, query).toBe(404)
        expect(JSON.stringify(json)).not.toContain('secret')
      }
    }
    expect((await ada.get('/map?project=nothing')).status).toBe(404)
    expect((await ada.get('/map?from=-1')).status).toBe(422)
  })
})
