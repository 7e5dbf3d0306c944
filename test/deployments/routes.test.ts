import { expect, test } from 'bun:test'
import { testApp } from '../support/app.ts'

test('someone else’s project does not exist, whatever is sent to it', async () => {
  const t = testApp()
  const ada = t.logIn('ada@example.com')
  const bob = t.logIn('bob@example.com')
  const project = { name: 'site', repositoryUrl: 'file:///srv/x.git' }
  const { id } = (await ada.post('/projects', project)).json
  const path = `/projects/${id}`

  for (const route of ['deployments', 'deploy']) {
    expect((await ada.post(`${path}/${route}`, { commit: 'wrong' })).status).toBe(422)
    expect((await bob.post(`${path}/${route}`, { commit: 'wrong' })).status).toBe(404)
  }
})
