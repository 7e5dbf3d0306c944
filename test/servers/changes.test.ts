import { expect, test } from 'bun:test'
import { firstServer } from '../../src/platform/root.ts'
import { twoMachines } from './machines.ts'

async function joined() {
  const s = twoMachines()
  const { id } = (await s.add({ roles: ['apps', 'edge'], labels: { zone: 'east' } })).json
  const put = (body: Record<string, unknown>, at = id) =>
    s.root.put(`/settings/servers/${at}`, body)
  return { ...s, id, put }
}

test('a server has the roles that it was added with, and Davit’s own has all', async () => {
  const { root } = await joined()
  const { items } = (await root.get('/settings/servers')).json
  expect(items).toMatchObject([
    { name: 'two', roles: ['apps', 'edge'] },
    { name: 'one', roles: ['apps', 'builds', 'edge'] },
  ])
})

test('name, labels and roles are changed; what is omitted stays', async () => {
  const { put, root, id } = await joined()
  expect((await put({ name: 'west' })).json).toMatchObject({
    ...{ name: 'west', labels: { zone: 'east' }, roles: ['apps', 'edge'] },
  })
  expect((await put({ labels: { zone: 'west', disk: 'ssd' } })).json).toMatchObject({
    ...{ name: 'west', labels: { zone: 'west', disk: 'ssd' }, roles: ['apps', 'edge'] },
  })
  expect((await put({ roles: ['builds'] })).json).toMatchObject({ roles: ['builds'] })
  expect((await put({ roles: [] })).json).toMatchObject({ roles: [], labels: { disk: 'ssd' } })
  const { items } = (await root.get('/settings/audit')).json
  expect(items[0]).toMatchObject({ action: 'server.changed', details: { changes: 'roles' } })
  const form = (await root.page(`/settings/servers/${id}/edit`)).text
  expect(form).toContain('zone=west\ndisk=ssd')
})

test('a form changes it, too', async () => {
  const { root, id } = await joined()
  const answer = await root.htmx('PUT', `/settings/servers/${id}`, {
    ...{ name: 'two', labels: 'zone=north', roles: 'edge' },
  })
  expect(answer.status).toBeLessThan(400)
  expect((await root.get(`/settings/servers/${id}`)).json).toMatchObject({
    ...{ name: 'two', labels: { zone: 'north' }, roles: ['edge'] },
  })
  await root.htmx('PUT', `/settings/servers/${id}`, { name: 'two', labels: '', roles: '' })
  expect((await root.get(`/settings/servers/${id}`)).json).toMatchObject({ labels: {}, roles: [] })
})

test('Davit’s own server can be renamed and labelled, and keeps its roles', async () => {
  const { put } = await joined()
  const changed = await put({ name: 'home', labels: { zone: 'home' } }, firstServer)
  expect(changed.json).toMatchObject({ name: 'home', labels: { zone: 'home' } })
  const refused = await put({ roles: ['builds', 'edge'] }, firstServer)
  expect(refused).toMatchObject({ status: 422, json: { errors: [{ field: 'roles' }] } })
  const same = await put({ roles: ['edge', 'apps', 'builds'] }, firstServer)
  expect(same.status).toBe(200)
})

test('the form of Davit’s own server has its name and labels, and it has no button to remove it', async () => {
  const { root } = await joined()
  const at = `/settings/servers/${firstServer}`
  const form = (await root.page(`${at}/edit`)).text
  expect([form.includes('name="labels"'), form.includes('name="roles"')]).toEqual([true, false])
  const saved = await root.htmx('PUT', at, { name: 'home', labels: 'zone=home' })
  expect(saved.status).toBeLessThan(400)
  expect((await root.get(at)).json).toMatchObject({
    ...{ name: 'home', labels: { zone: 'home' }, roles: ['apps', 'builds', 'edge'] },
  })
  const list = (await root.page('/settings/servers')).text
  expect(list.split('value="DELETE"')).toHaveLength(2) // of the other one
})

test.each<[string, number, string, Record<string, unknown>]>([
  ['another server’s name', 409, 'name', { name: 'one' }],
  ['a name with quotes', 422, 'name', { name: '"two"' }],
  ['labels with quotes', 422, 'labels', { labels: { zone: '"east"' } }],
  ['another address', 422, 'address', { address: '10.0.0.9' }],
])('a change to %s is refused', async (_, status, field, body) => {
  const { put, root, id } = await joined()
  const before = (await root.get(`/settings/servers/${id}`)).json
  expect(await put(body)).toMatchObject({ status, json: { errors: [{ field }] } })
  expect((await root.get(`/settings/servers/${id}`)).json).toEqual(before)
})
