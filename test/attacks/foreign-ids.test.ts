import { expect, test } from 'bun:test'
import { makeToken } from '../../src/accounts/token-store.ts'
import { asToken } from '../accounts/visitor.ts'
import { testApp } from '../support/app.ts'
import type { TestApp } from '../support/app.ts'
import type { TestClient } from '../support/client.ts'
import { everything } from '../support/everything.ts'
import type { Ids } from '../support/everything.ts'
import { contentsOf } from '../support/refusals.ts'
import { addressOf, routesOf } from './walk.ts'

const aToken = (t: TestApp, { user }: TestClient) =>
  asToken(
    t.app,
    makeToken(t.db, {
      userId: user.id,
      name: 'ci',
      scopes: ['read', 'deploy', 'write'],
      expiresInDays: null,
    }).token,
  )

/** Another one's ids, and ids of nobody, are in these routes; the others have none. */
const withIds = (t: TestApp) => routesOf(t).filter(({ path }) => /:(\w*[iI]d)\b/.test(path))

test('an API token reaches nothing of somebody else, and moves no container', async () => {
  const t = testApp()
  const ids = await everything(t, t.logIn('ada@example.com'))
  await t.docker.startContainer(ids.container)
  const call = aToken(t, t.logIn('bob@example.com'))
  await call('GET', '/projects') // notes that it is used
  const before = [contentsOf(t), await t.docker.inspectContainer(ids.container)]
  const init = { body: '{}', headers: { 'Content-Type': 'application/json' } }
  for (const route of withIds(t)) {
    const isGet = route.method === 'GET'
    const answer = await call(route.method, addressOf(route, ids), isGet ? {} : init)
    await answer.body?.cancel()
    // what is a person's own is refused to every token, whoever it belongs to, and what admins do to members
    const isPersonal =
      /^\/settings\/(sessions|tokens|identities|invites|users|servers|server-codes|activity|grants)/.test(
        route.path,
      ) && !(isGet && route.path.startsWith('/settings/tokens/'))
    expect(answer.status, route.route).toBe(isPersonal ? 403 : 404)
  }
  expect([contentsOf(t), await t.docker.inspectContainer(ids.container)]).toEqual(before)
})

/** Fields that no form has: who owns what, who is what, and what only Davit sets. */
const planted = (bob: TestClient, theirs: Ids) => ({
  id: 'planted',
  ownerId: bob.user.id,
  userId: bob.user.id,
  owner: bob.user.id,
  projectId: theirs.project,
  deploymentId: theirs.deployment,
  serviceId: theirs.service,
  role: 'admin',
  isAdmin: true,
  admin: true,
  createdAt: '2001-01-01T00:00:00.000Z',
  deletingAt: '2001-01-01T00:00:00.000Z',
  disabledAt: '2001-01-01T00:00:00.000Z',
  usedAt: '2001-01-01T00:00:00.000Z',
  passwordHash: 'planted',
  tokenHash: 'planted',
  accessToken: 'planted',
  deployKeyPrivate: 'planted',
  status: 'running',
  containerId: theirs.container,
  imageOf: theirs.deployment,
  commitStatus: 'planted',
  hidden: 'planted',
  ['__proto__']: { polluted: 'planted' },
  constructor: { prototype: { polluted: 'planted' } },
})

const snakeCase = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

test('no form takes a field along that it does not have', async () => {
  const t = testApp()
  const [ada, bob] = [t.logIn('ada@example.com'), t.logIn('bob@example.com')]
  const ids = await everything(t, ada)
  const theirs = await everything(t, bob)
  const fields = planted(bob, theirs)
  const plantedForm = new URLSearchParams(
    Object.entries(fields).map(([name, value]): [string, string] => [
      snakeCase(name),
      String(value),
    ]),
  )
  const rows = () => contentsOf(t).flatMap(([, table]) => table as Record<string, unknown>[])
  const ofBob = () => {
    const own = new Set<unknown>([bob.user.id, ...Object.values(theirs)])
    return rows().filter((row) => Object.values(row).some((value) => own.has(value)))
  }
  t.db.$client.run('UPDATE users SET password_hash = NULL') // so that none is asked for
  const before = ofBob()
  const changes = routesOf(t).filter(
    ({ method, path }) =>
      ['POST', 'PUT'].includes(method) && !/^\/(webhooks|auth)\/|\/restart$/.test(path), // a restart takes no field, but its time
  )
  expect(changes.length).toBeGreaterThan(25)
  const name = () => `n${Bun.randomUUIDv7().slice(-12)}`
  for (const route of changes) {
    const path = addressOf(route, ids)
    const own = {
      name: name(),
      key: name().toUpperCase(),
      value: 'x',
      scopes: ['read'],
      email: 'ada@example.com',
    }
    const repositoryUrl = 'https://git.example.com/team/site.git'
    const body = JSON.stringify({ ...fields, ...own, repositoryUrl })
    const json = { Accept: 'application/json', 'Content-Type': 'application/json' }
    const { method } = route
    const asJson = await ada.send(path, { method, body, headers: json })
    const asForm = await ada.send(path, {
      method,
      body: plantedForm,
      headers: { Accept: 'application/json' },
    })
    expect([asJson.status, asForm.status], route.route).not.toContain(500)
    expect(ofBob(), route.route).toEqual(before)
    const all = JSON.stringify(rows())
    expect(all, route.route).not.toContain('planted')
    expect(all, route.route).not.toContain(String(Date.parse(fields.createdAt)))
    expect(all, route.route).not.toContain('"admin"')
  }
  expect(({} as { polluted?: string }).polluted).toBeUndefined()
})

test('what is named in a body or a query belongs to the user too', async () => {
  const t = testApp()
  const [ada, bob] = [t.logIn('ada@example.com'), t.logIn('bob@example.com')]
  const ids = await everything(t, ada)
  const theirs = await everything(t, bob)
  const before = contentsOf(t)
  const from = { sourceId: theirs.source, repository: 'team/site' }
  const environmentId = theirs.environment
  const answers = {
    deploy: await ada.post(`/projects/${ids.project}/deployments`, { environmentId }),
    change: await ada.put(`/projects/${ids.project}`, from),
    create: await ada.post('/projects', { name: 'mine', ...from }),
    repositories: await ada.get(`/api/git/repos?sourceId=${theirs.source}`),
    branches: await ada.get(`/api/git/branches?sourceId=${theirs.source}&repository=team/site`),
  }
  for (const [what, { status }] of Object.entries(answers))
    expect([404, 422], what).toContain(status)
  expect(contentsOf(t)).toEqual(before)
})
