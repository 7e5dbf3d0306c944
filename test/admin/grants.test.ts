import { describe, expect, test } from 'bun:test'
import { getService } from '../../src/services/store.ts'
import { idle, made, settled } from '../services/instances.ts'
import { simulatedApp } from '../support/app.ts'
import type { TestApp } from '../support/app.ts'
import type { TestClient } from '../support/client.ts'

const withPath = (more = '') =>
  `services: {a: {${idle}, volumes: ["/etc/hostname:/host:ro"]${more}}}`
const allowed = ['a host_path /etc/hostname']

/** Two admins, and a service of the second that reads a file of the host. */
async function strong() {
  const t = simulatedApp()
  const [root, ada] = [t.logInAsAdmin(), t.logInAsAdmin('ada@example.com')]
  const service = await made(t, ada, withPath(), { allowed })
  expect(service.status).toBe('running')
  return { t, root, ada, service, path: `/services/${service.id}` }
}

const demote = (root: TestClient, { user }: TestClient) =>
  root.put(`/settings/users/${user.id}`, { role: 'member' })

async function restarted(t: TestApp, client: TestClient, service: { id: string }) {
  await client.post(`/services/${service.id}/restart`)
  return settled(t, client, service)
}

describe('what an admin allowed a service', () => {
  test('lapses when they are an admin no more: it runs on, and starts again only with an admin', async () => {
    const { t, root, ada, service, path } = await strong()
    await demote(root, ada)
    expect((await ada.get(path)).json.status).toBe('running')
    expect((await ada.page(path)).text).toContain('Lapsed')
    expect(await restarted(t, ada, service)).toMatchObject({
      status: 'running',
      error: { code: 'refused', message: expect.stringContaining('/etc/hostname') },
    })
    expect((await ada.put(path, { allowed })).status).toBe(403)

    const { items } = (await root.get('/settings/grants')).json
    expect(items).toMatchObject([{ service: { id: service.id }, allowed, allowedBy: null }])
    const again = await root.put(`/settings/grants/${service.id}`, { granted: true })
    expect(again.json.items).toMatchObject([{ allowedBy: { email: root.user.email } }])
    expect(await restarted(t, ada, service)).toMatchObject({ status: 'running', error: null })

    await root.put(`/settings/grants/${service.id}`, { granted: false })
    expect((await restarted(t, ada, service)).error).toMatchObject({ code: 'refused' })
  })

  test('is for the file, the values and the version of then: a member’s change needs an admin', async () => {
    const { t, root, ada, service, path } = await strong()
    await demote(root, ada)
    await root.put(`/settings/grants/${service.id}`, { granted: true })
    const other = withPath(', environment: {A: b}')
    const refused = await ada.put(path, { compose: other })
    expect([refused.status, refused.json.detail]).toEqual([
      403,
      expect.stringContaining('an admin has to allow it again'),
    ])
    expect((await ada.put(path, { env: 'A=b' })).status).toBe(403)
    expect((await ada.put(path, { name: 'renamed' })).json).toMatchObject({
      name: 'renamed',
      status: 'running',
    })
    const weak = await ada.put(path, { compose: `services: {a: {${idle}}}` })
    expect(weak.status).toBe(200)
    expect(await settled(t, ada, service)).toMatchObject({ status: 'running', error: null })
    expect((await ada.put(path, { compose: withPath() })).status).toBe(403)
  })

  test('an admin may change along with the file', async () => {
    const { t, ada, service, path } = await strong()
    expect((await ada.put(path, { compose: withPath(', environment: {A: b}') })).status).toBe(200)
    expect(await settled(t, ada, service)).toMatchObject({ status: 'running', error: null })
  })

  test.each(['member', 'admin'] as const)('does not pass to an heir who is a %s', async (role) => {
    const { t, root, ada, service, path } = await strong()
    const eve = role === 'admin' ? t.logInAsAdmin('eve@example.com') : t.logIn('eve@example.com')
    await root.delete(`/settings/users/${ada.user.id}`, { heirId: eve.user.id })
    expect((await eve.get(path)).json.status).toBe('running')
    expect((await eve.put(path, { name: 'mine' })).status).toBe(200)
    expect((await restarted(t, eve, service)).error).toMatchObject({ code: 'refused' })
    const answer = await eve.put(path, { allowed })
    expect(answer.status).toBe(role === 'admin' ? 200 : 403)
    const { status, error } = await settled(t, eve, service)
    expect(status).toBe('running')
    expect(error?.code).toBe(role === 'admin' ? undefined : 'refused')
    expect(getService(t.db, service.id)!.allowedBy).toBe(role === 'admin' ? eve.user.id : null)
  })
})

test('what services were allowed is for admins to see', async () => {
  const { root, t } = await strong()
  const eve = t.logIn('eve@example.com')
  expect((await eve.get('/settings/grants')).status).toBe(403)
  const { text } = await root.page('/settings/grants')
  for (const part of ['ada@example.com', 'reads and writes /etc/hostname on this server', 'Revoke'])
    expect(text).toContain(part)
  const { id } = (await root.get('/settings/grants')).json.items[0].service
  const posted = await root.form(`/settings/grants/${id}`, { _method: 'PUT', granted: '0' })
  expect([posted.status, posted.headers.get('Location')]).toEqual([303, '/settings/grants'])
  expect((await root.page('/settings/grants')).text).toContain('Allow again')
  const path = `/settings/grants/${Bun.randomUUIDv7()}`
  expect((await root.put(path, { granted: true })).status).toBe(404)
})
