import { expect, test } from 'bun:test'
import { testApp } from '../support/app.ts'

const repositoryUrl = 'https://git.example.com/team/site.git'

test('a page that is kept is made anew with every change, and for each reader', async () => {
  const t = testApp()
  const [ada, bob] = [t.logIn('ada@example.com'), t.logIn('bob@example.com')]
  const { json: project } = await ada.post('/projects', { name: 'before', repositoryUrl })
  const first = await ada.page('/dashboard')
  expect(first.text).toContain('before')
  const again = await ada.page('/dashboard')
  expect(again.text).toBe(first.text)
  for (const name of ['Content-Type', 'Vary', 'Cache-Control', 'Content-Security-Policy'])
    expect(again.headers.get(name), name).toBe(first.headers.get(name))

  await ada.put(`/projects/${project.id}`, { name: 'after' })
  expect((await ada.page('/dashboard')).text).toContain('after')
  expect((await ada.get('/dashboard')).json.projects[0].name).toBe('after')
  expect((await ada.htmx('GET', '/dashboard')).text).not.toContain('<html')
  expect((await bob.page('/dashboard')).text).not.toContain('after')

  t.deps.db.$client.run("UPDATE projects SET name = 'by hand'")
  expect((await ada.page('/dashboard')).text).toContain('by hand')
})
