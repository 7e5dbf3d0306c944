import { expect, test } from 'bun:test'
import { fillLabels, freeLabel } from '../../src/addresses/labels.ts'
import { planOf } from '../../src/addresses/plan.ts'
import { davitKey } from '../../src/edge/plan.ts'
import { testApp } from '../support/app.ts'

const domain = 'example.com'

test('an environment has a name under the domain, after its project and itself', () => {
  const { db } = testApp()
  const name = (project: string, environment: string) =>
    freeLabel(db, { project, environment, domain, url: null })
  expect(name('Hello', 'production')).toBe('hello')
  expect(name('Hello', 'staging')).toBe('staging-hello')
  expect(name('Crème & Co', 'production')).toBe('creme-co')
  expect(name('…', 'production')).toBe('app')
  expect(name('a'.repeat(100), 'pr-1')).toBe(`pr-1-${'a'.repeat(58)}`)
})

test('one that is taken is numbered, whoever has it, and follows the project’s name', async () => {
  const t = testApp({ DAVIT_DOMAIN: domain })
  const [ada, bob] = [t.logIn('ada@example.com'), t.logIn('bob@example.com')]
  const repositoryUrl = 'https://git.example.com/hello.git'
  const { json: first } = await ada.post('/projects', { name: 'hello', repositoryUrl })
  const { json: second } = await bob.post('/projects', { name: 'Hello', repositoryUrl })
  const labels = () =>
    t.db.query.environments
      .findMany({ columns: { projectId: true, label: true } })
      .sync()
      .map(({ projectId, label }) => [projectId, label])
  expect(labels()).toEqual([
    [first.id, 'hello'],
    [second.id, 'hello-2'],
  ])
  await ada.put(`/projects/${first.id}`, { name: 'site' })
  expect(labels()[0]).toEqual([first.id, 'site'])
})

test('names below one are its owner’s only', async () => {
  const t = testApp({ DAVIT_DOMAIN: domain }, { jobsWait: true })
  const [ada, bob] = [t.logIn('ada@example.com'), t.logIn('bob@example.com')]
  const project = async (client: typeof ada, name: string) => {
    const repositoryUrl = 'https://git.example.com/hello.git'
    const { json } = await client.post('/projects', { name, repositoryUrl })
    const { id } = (await client.get(`/projects/${json.id}/envs`)).json.items[0]
    return t.db.query.environments.findFirst({ where: (row, { eq }) => eq(row.id, id) }).sync()!
  }
  const add = (client: typeof ada, { id }: { id: string }, host: string) =>
    client.post(`/envs/${id}/domains`, { host })
  const [hers, his] = [await project(ada, 'hello'), await project(bob, 'other')]
  const refused = await add(bob, his, `admin.hello.${domain}`)
  expect([refused.status, refused.json.errors[0].message]).toEqual([
    409,
    expect.stringContaining('is below the name of another app.'),
  ])
  expect((await add(ada, hers, `admin.hello.${domain}`)).status).toBe(201)
  expect((await add(bob, his, `a.b.site.${domain}`)).status).toBe(201)
  expect((await project(ada, 'site')).label).toBe('site-2')
})

test('none has Davit’s own, also where a setting has given it to Davit meanwhile', async () => {
  const t = testApp({ DAVIT_DOMAIN: domain, DAVIT_URL: `https://panel.${domain}` })
  const bob = t.logIn('bob@example.com')
  const repositoryUrl = 'https://git.example.com/hello.git'
  const { json: project } = await bob.post('/projects', { name: 'Panel', repositoryUrl })
  const names = () => planOf(t).hosts.map(({ name }) => name)
  expect(names()).toEqual([`panel.${domain}`, `panel-2.${domain}`])
  await bob.put(`/projects/${project.id}`, { name: 'panel' })
  expect(names()).toEqual([`panel.${domain}`, `panel-2.${domain}`])

  Object.assign(t.config, { url: new URL(`https://panel-2.${domain}`) })
  expect(planOf(t).hosts).toMatchObject([{ sites: [{ target: { slots: davitKey } }] }])
  fillLabels(t.db, t.config)
  expect(names()).toEqual([`panel-2.${domain}`, `panel.${domain}`])
})
