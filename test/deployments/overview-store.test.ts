import { expect, test } from 'bun:test'
import { listEnvironmentStates, listRecent } from '../../src/deployments/overview-store.ts'
import { insertDeployment } from '../../src/deployments/store.ts'
import type { Status } from '../../src/deployments/store.ts'
import { listEnvironments } from '../../src/environments/store.ts'
import { testApp, withAda } from '../support/app.ts'

const repositoryUrl = 'https://git.example.com/team/site.git'

async function twoProjects() {
  const { t, ada } = withAda(testApp())
  const made = ['a', 'b'].map((name) => ada.post('/projects', { name, repositoryUrl }))
  const [a = '', b = ''] = (await Promise.all(made)).map(({ json }) => json.id as string)
  const { json } = await t.logIn('bob@example.com').post('/projects', { name: 'c', repositoryUrl })
  const deploy = (projectId: string, status: Status) =>
    insertDeployment(t.db, {
      projectId,
      environmentId: listEnvironments(t.db, projectId)[0]!.id,
      ...{ status, trigger: 'manual', triggeredBy: 'ada', repositoryUrl },
    }).id
  const { id: ownerId } = t.db.query.users
    .findFirst({ where: (users, { eq }) => eq(users.email, 'ada@example.com') })
    .sync()!
  return { db: t.db, ownerId, a, b, c: json.id as string, deploy }
}

test('what serves is told from what was tried last', async () => {
  const { db, a, b, deploy } = await twoProjects()
  deploy(a, 'superseded')
  const serving = deploy(a, 'running')
  const failed = deploy(a, 'failed')
  const states = listEnvironmentStates(db, [a, b])
  const of = (id: string) => states.find(({ environment }) => environment.projectId === id)!
  expect(of(a)).toMatchObject({ current: { id: serving }, latest: { id: failed } })
  expect(of(b)).toMatchObject({ current: null, latest: null })
})

test('the newest deployments come first, whatever project of the user they are of', async () => {
  const { db, ownerId, a, b, c, deploy } = await twoProjects()
  const ids = [a, a, b, a, b].map((project) => deploy(project, 'failed'))
  deploy(c, 'failed')
  const recent = (limit: number) =>
    listRecent(db, { ownerId, limit }).map(({ deployment }) => deployment.id)
  expect(recent(10)).toEqual(ids.toReversed())
  expect(recent(1)).toEqual(ids.slice(-1))
  expect(recent(3)).toEqual(ids.toReversed().slice(0, 3))
})
