import { expect, test } from 'bun:test'
import { testApp, withAda } from '../support/app.ts'

/** A toast on a page, in words; null where there is none. */
const toastOf = (text: string) => /<p class="toast">.*?<span>(.*?)<\/span>/s.exec(text)?.[1] ?? null

async function anEnvironment() {
  const { t, ada } = withAda(testApp())
  const repositoryUrl = 'https://git.example.com/team/site.git'
  const { json: project } = await ada.post('/projects', { name: 'site', repositoryUrl })
  const { json: list } = await ada.get(`/projects/${project.id}/envs`)
  return { t, ada, project, path: `/envs/${list.items[0].id}/variables` }
}

test('the page after a change says what was done, once', async () => {
  const { ada, path } = await anEnvironment()
  const { status, headers } = await ada.form(path, { key: 'KEY', value: 'value' })
  expect(status).toBe(303)
  expect(toastOf((await ada.page(headers.get('Location')!)).text)).toBe('Variable saved.')
  expect(toastOf((await ada.page(path)).text)).toBeNull()
})

test('only a page that a person opens says it, in the session that made the change', async () => {
  const { t, ada, path } = await anEnvironment()
  await ada.htmx('POST', path, { key: 'KEY', value: 'value' })
  const eve = t.logIn('eve@example.com')
  expect(toastOf((await eve.page('/dashboard')).text)).toBeNull()
  expect(toastOf((await ada.htmx('GET', path)).text)).toBeNull()
  const headers = { Accept: 'text/html', 'Sec-Fetch-Dest': 'empty' }
  expect(toastOf(await (await ada.send(path, { headers })).text())).toBeNull()
  expect(toastOf((await ada.page('/dashboard')).text)).toBe('Variable saved.')
})

test('a form that stays on its page says it beside its answer', async () => {
  const { ada, project } = await anEnvironment()
  const fields = { name: 'ship “é”', repository_url: project.repositoryUrl, branch: 'main' }
  const { status, headers } = await ada.htmx('PUT', `/projects/${project.id}`, fields)
  expect(status).toBe(200)
  expect(decodeURIComponent(headers.get('X-Davit-Said')!)).toBe('Project saved.')
})

test('a program is told nothing', async () => {
  const { ada, path } = await anEnvironment()
  await ada.post(path, { key: 'KEY', value: 'value' })
  expect(toastOf((await ada.page(path)).text)).toBeNull()
})
