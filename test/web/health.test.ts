import { expect, test } from 'bun:test'
import { asToken } from '../accounts/visitor.ts'
import { simulatedApp, testApp, withAda } from '../support/app.ts'

test('it lives as long as it answers, and is ready while its databases answer', async () => {
  const { app, logDb } = testApp()
  expect(await (await app.request('/health')).json()).toEqual({ status: 'ok' })
  expect((await app.request('/health/ready')).status).toBe(200)
  logDb.$client.close()
  expect((await app.request('/health/ready')).status).toBe(503)
  expect((await app.request('/health')).status).toBe(200)
})

test('it is not ready once it stops', async () => {
  const { app, streams } = testApp()
  streams.endAll()
  const answer = await app.request('/health/ready')
  expect(answer.status).toBe(503)
  expect(await answer.json()).toEqual({ status: 'stopping' })
})

test('it is open to all, also with a token that may do less or nothing', async () => {
  const { t, ada } = withAda(simulatedApp())
  const repositoryUrl = 'https://git.example.com/team/site.git'
  const { json: project } = await ada.post('/projects', { name: 'site', repositoryUrl })
  const tokenOf = async (more: object) =>
    (await ada.post('/settings/tokens', { name: crypto.randomUUID(), ...more })).json.token
  const tokens = {
    metrics: await tokenOf({ scopes: ['metrics'] }),
    limited: await tokenOf({ scopes: ['deploy'], projectId: project.id }),
    invalid: 'dvt_invalid',
  }
  for (const [name, token] of Object.entries(tokens))
    for (const path of ['/health', '/health/ready']) {
      const { status } = await asToken(t.app, token)('GET', path)
      expect([name, path, status]).toEqual([name, path, 200])
    }
})
