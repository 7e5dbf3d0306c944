import { expect, test } from 'bun:test'
import { testApp } from '../support/app.ts'
import { seeded } from '../support/seeded.ts'

test('an environment shows its last hour and the end of its log, and only to its owner', async () => {
  const t = testApp({ DAVIT_REGISTRATION: 'invite' })
  const { ids, cookie } = await seeded(t)
  const path = `/projects/${ids.project}/envs/${ids.environment}`
  const headers = { Accept: 'text/html', Cookie: `svc_session=${cookie}` }
  const text = await (await t.app.request(path, { headers })).text()
  expect(text).toContain('aria-label="CPU in the last hour"')
  expect(text).toContain('aria-label="Requests in the last hour"')
  expect(text).toContain('the build failed')
  expect((await t.logIn('mallory@example.com').page(path)).status).toBe(404)
})

test('where nothing ran there is nothing to glance at', async () => {
  const t = testApp()
  const ada = t.logIn('ada@example.com')
  const repositoryUrl = 'https://git.example.com/team/site.git'
  const { json: project } = await ada.post('/projects', { name: 'site', repositoryUrl })
  const [environment] = (await ada.get(`/projects/${project.id}/envs`)).json.items
  const { text } = await ada.page(`/projects/${project.id}/envs/${environment.id}`)
  expect(text).toContain('id="glance"')
  expect(text).not.toContain('Last hour')
})
