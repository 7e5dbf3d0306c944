import { expect, test } from 'bun:test'
import { factory } from '../../src/web/factory.ts'
import { KeptAnswers } from '../../src/web/kept-answers.ts'
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

test('only what succeeds is kept, and each address has an answer of its own', async () => {
  const kept = new KeptAnswers()
  let made = 0
  let status: 200 | 404 = 404
  const app = factory.createApp().get('/', (c) =>
    kept.answer(c, [], () => {
      made++
      return c.text(`${status} ${c.req.query('page')}`, status, { 'X-Made': String(made) })
    }),
  )
  const ask = async (page: number) => {
    const answer = await app.request(`/?page=${page}`)
    return [answer.status, await answer.text(), answer.headers.get('X-Made')]
  }
  expect(await ask(1)).toEqual([404, '404 1', '1'])
  expect(await ask(1)).toEqual([404, '404 1', '2'])
  status = 200
  expect(await ask(1)).toEqual([200, '200 1', '3'])
  expect(await ask(1)).toEqual([200, '200 1', null])
  expect(await ask(2)).toEqual([200, '200 2', '4'])
  expect(made).toBe(4)
})

test('a failure is everyone’s who waited for it, and is not kept', async () => {
  const kept = new KeptAnswers()
  const failing = Promise.withResolvers<Response>()
  const answers = [() => failing.promise, () => new Response('well')]
  const app = factory.createApp().get('/', (c) => kept.answer(c, [], () => answers.shift()!()))
  app.onError((error, c) => c.text(error.message, 500))
  const both = [app.request('/'), app.request('/')]
  failing.reject(new Error('not made'))
  for (const answer of await Promise.all(both)) expect(await answer.text()).toBe('not made')
  expect(await (await app.request('/')).text()).toBe('well')
})
