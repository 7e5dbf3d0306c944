import { expect, test } from 'bun:test'
import { makeToken } from '../../src/accounts/token-store.ts'
import type { ApiToken } from '../../src/web/factory.ts'
import { asToken } from '../accounts/visitor.ts'
import { testApp, withAda } from '../support/app.ts'

test('someone else’s project does not exist, whatever is sent to it', async () => {
  const { t, ada } = withAda(testApp())
  const bob = t.logIn('bob@example.com')
  const project = { name: 'site', repositoryUrl: 'file:///srv/x.git' }
  const { id } = (await ada.post('/projects', project)).json
  const path = `/projects/${id}`

  for (const route of ['deployments', 'deploy']) {
    expect((await ada.post(`${path}/${route}`, { commit: 'wrong' })).status).toBe(422)
    expect((await bob.post(`${path}/${route}`, { commit: 'wrong' })).status).toBe(404)
  }
  const log = `${path}/deployments/${Bun.randomUUIDv7()}/logs?limit=wrong`
  expect((await ada.get(log)).status).toBe(422)
  expect((await bob.get(log)).status).toBe(404)
})

test('a token that may only deploy can’t have another repository run with the secrets', async () => {
  const { t, ada } = withAda(testApp())
  const repositoryUrl = 'file:///srv/x.git'
  const { id } = (await ada.post('/projects', { name: 'site', repositoryUrl })).json
  const deploy = async (scopes: ApiToken['scopes'], asked: object) => {
    const key = { userId: ada.user.id, name: 'ci', expiresInDays: null }
    const call = asToken(t.app, makeToken(t.db, { ...key, scopes }).token)
    const answer = await call('POST', `/projects/${id}/deployments`, {
      body: JSON.stringify(asked),
      headers: { 'Content-Type': 'application/json', Accept: 'application/json' },
    })
    return { status: answer.status, text: await answer.text() }
  }

  const foreign = { repositoryUrl: 'file:///srv/foreign.git' }
  const refused = await deploy(['read', 'deploy'], foreign)
  expect([refused.status, refused.text]).toEqual([403, expect.stringContaining('scope write')])
  expect((await ada.get(`/projects/${id}/deployments`)).json.items).toEqual([])

  expect((await deploy(['deploy'], { repositoryUrl })).status).toBe(201)
  expect((await deploy(['deploy'], {})).status).toBe(201)
  expect((await deploy(['write'], foreign)).status).toBe(201)
})
