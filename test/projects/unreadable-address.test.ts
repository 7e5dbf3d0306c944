import { expect, test } from 'bun:test'
import { testApp, withAda } from '../support/app.ts'

const repositoryUrl = 'https://git.example.com/team/site.git'

/** A project whose address this version does not read, as an older one or a hand may have stored it. */
async function aProject() {
  const { t, ada } = withAda(testApp())
  const { id } = (await ada.post('/projects', { name: 'site', repositoryUrl })).json
  t.db.$client.run("UPDATE projects SET repository_url = 'ext::sh -c x'")
  return { ada, path: `/projects/${id}` }
}

const complaint = 'can’t contain spaces'

test('an address that can’t be read is complained of where it is repaired', async () => {
  const { ada, path } = await aProject()
  for (const place of ['', '/settings', '/deployments', '/envs', '/deliveries', '/delete'])
    expect((await ada.page(path + place)).status, place).toBe(200)
  const page = await ada.page(`${path}/settings`)
  expect(page.text).toContain('value="ext::sh -c x"')
  expect(page.text).toMatch(new RegExp(`id="field-repository_url-error"[^>]*>[^<]*${complaint}`))
  expect((await ada.put(`${path}/settings`, { keepImages: 3 })).status).toBe(200)
  const renamed = await ada.htmx('PUT', path, { name: 'other', repository_url: repositoryUrl })
  expect(renamed.status).toBe(200)
  expect(renamed.text).not.toContain(complaint)
  expect((await ada.page(`${path}/settings`)).text).not.toContain(complaint)
})

test('a wrong field beside an address that was repaired is the only one complained of', async () => {
  const { ada, path } = await aProject()
  const answer = await ada.htmx('PUT', path, { name: '', repository_url: repositoryUrl })
  expect(answer.status).toBe(422)
  expect(answer.text).toContain('id="field-name-error"')
  expect(answer.text).not.toContain(complaint)
})

test('a project with such an address can be deleted', async () => {
  const { ada, path } = await aProject()
  expect((await ada.delete(path)).status).toBe(200)
  expect((await ada.get(path)).status).toBe(404)
})
