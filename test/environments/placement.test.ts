import { describe, expect, test } from 'bun:test'
import { pinTo } from '../../src/runtime/pins.ts'
import { deleteServer, updateServer } from '../../src/servers/store.ts'
import { simulatedApp, withAda } from '../support/app.ts'
import { serverId, storeServers } from '../support/servers.ts'

const second = serverId(2)

async function anEnvironment(labels = [{ zone: 'east' }, { zone: 'west' }]) {
  const { t, ada } = withAda(simulatedApp())
  storeServers(t.db, labels)
  const setEdge = (value: string) =>
    Object.defineProperty(t.edge, 'mode', { value, configurable: true })
  setEdge('caddy')
  const repositoryUrl = 'https://git.example.com/site.git'
  const { json: project } = await ada.post('/projects', { name: 'site', repositoryUrl })
  const [environment] = (await ada.get(`/projects/${project.id}/envs`)).json.items
  const path = `/projects/${project.id}/envs/${environment.id}`
  const put = (changes: Record<string, unknown>) => ada.put(path, changes)
  return { t, setEdge, ada, path, project, put }
}

const fields = ({ json }: { json: { errors?: { field: string }[] } }) =>
  json.errors?.map(({ field }) => field)

test('a placement names a server, or labels, in JSON and in a form, and goes again', async () => {
  const { ada, path, put } = await anEnvironment()
  expect((await ada.get(path)).json.placement).toBeNull()
  const one = { server: second }
  const labels = { labels: { zone: 'west' }, spread: 'servers' }
  for (const [sent, stored] of [
    [one, one],
    [{ server: 'server2' }, one],
    [labels, labels],
    [null, null],
  ]) {
    expect(await put({ placement: sent })).toMatchObject({ status: 200 })
    expect((await ada.get(path)).json.placement).toEqual(stored)
  }
  for (const [text, stored] of [
    ['server2', one],
    [' zone=west ', labels],
  ] as const) {
    expect((await ada.htmx('PUT', path, { placement: text })).status).toBe(200)
    expect((await ada.get(path)).json.placement).toEqual(stored)
  }
  const page = await ada.page(`${path}/edit`)
  expect(page.text).toContain('value="zone=west"')
})

test('a placement whose server was removed can be changed in the form', async () => {
  const { t, ada, path, put } = await anEnvironment()
  expect((await ada.page(`${path}/edit`)).text).toContain('name="placement"')
  await put({ placement: { server: second } })
  for (const n of [1, 2]) deleteServer(t.db, serverId(n))
  expect((await ada.page(`${path}/edit`)).text).toContain('name="placement"')
  expect((await ada.htmx('PUT', path, { placement: '' })).status).toBe(200)
  expect((await ada.get(path)).json.placement).toBeNull()
  expect((await ada.page(`${path}/edit`)).text).not.toContain('name="placement"')
})

describe('refused is', () => {
  const cases: [string, unknown][] = [
    ['a server that doesn’t exist', { server: 'nowhere' }],
    ['a label that no server has', { labels: { zone: 'north' }, spread: 'servers' }],
    ['no label', { labels: {}, spread: 'servers' }],
    ['a label with a quote', { labels: { zone: 'we"st' }, spread: 'servers' }],
    ['another spread', { labels: { zone: 'west' }, spread: 'zones' }],
    ['both', { server: 'server2', labels: { zone: 'west' }, spread: 'servers' }],
    ['text with a quote', 'zone="west"'],
    ['a list', ['server2']],
    ['a number', 2],
  ]
  test.each(cases)('%s', async (_, placement) => {
    const { put } = await anEnvironment()
    const refused = await put({ placement })
    expect([refused.status, fields(refused)]).toEqual([422, ['placement']])
  })

  test('any, with one server, whose form has no field for it', async () => {
    const { ada, path, put } = await anEnvironment([])
    expect(fields(await put({ placement: { server: 'server1' } }))).toEqual(['placement'])
    expect((await ada.page(`${path}/edit`)).text).not.toContain('name="placement"')
  })

  test('what another server can’t have, whichever comes first', async () => {
    const { setEdge, ada, path, put } = await anEnvironment()
    const placement = { server: 'server2' }
    await put({ placement })
    expect(fields(await put({ hostPort: 5000 }))).toEqual(['hostPort'])
    expect((await ada.get(path)).json).toMatchObject({ placement: { server: second } })
    await put({ placement: null })
    setEdge('direct')
    expect(fields(await put({ placement }))).toEqual(['placement'])
    expect((await put({ placement, port: 0 })).status).toBe(200)
  })

  test('to go where its volumes aren’t', async () => {
    const { t, ada, path, put } = await anEnvironment()
    const { id } = (await ada.get(path)).json
    pinTo(t.db, { id, kind: 'app' }, second)
    expect((await put({ placement: { server: 'server1' } })).status).toBe(200) // it has none now
    await put({ placement: { server: 'server2' }, volumes: ['data:/data'] })
    for (const placement of [null, { server: 'server1' }]) {
      const refused = await put({ placement })
      expect([refused.status, fields(refused)]).toEqual([409, ['placement']])
    }
    expect((await put({ placement: { server: second }, cpus: 0.5 })).status).toBe(200)
    expect((await ada.get(path)).json).toMatchObject({ pinnedTo: second })
    expect((await ada.page(path)).text).toContain('server2</bdi>')
    updateServer(t.db, second, { lastSeenAt: new Date() })
    expect((await ada.page(path)).text).toContain('It waits for <bdi>server2</bdi>')
  })
})
