import { expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { environments, projects } from '../../src/db/schema.ts'
import { insertDeployment, moveDeployment } from '../../src/deployments/store.ts'
import { testApp, withAda } from '../support/app.ts'

const repositoryUrl = 'https://git.example.com/team/site.git'

/** A project whose second deployment is a rollback to the first, and serves. */
async function rolledBack() {
  const { t, ada } = withAda(testApp())
  const { json: project } = await ada.post('/projects', { name: 'site', repositoryUrl })
  const path = `/projects/${project.id}`
  const [environment] = (await ada.get(`${path}/envs`)).json.items
  const common = {
    projectId: project.id,
    environmentId: environment.id,
    repositoryUrl,
    triggeredBy: 'ada@example.com',
    image: 'davit/site:1',
    commitHash: 'a'.repeat(40),
  }
  const first = insertDeployment(t.db, { ...common, trigger: 'manual', status: 'superseded' })
  const second = insertDeployment(t.db, {
    ...common,
    trigger: 'rollback',
    imageOf: first.id,
    status: 'running',
  })
  return { t, ada, path, first, second, environment }
}

test('a rollback names the deployment that it goes back to', async () => {
  const { ada, path } = await rolledBack()
  expect((await ada.page(`${path}/deployments`)).text).toContain('rollback to #1')
})

test('a row offers to roll back to what was live, and never to what is or is stopped', async () => {
  const { t, ada, path, first, second } = await rolledBack()
  const offered = async () => {
    const { text } = await ada.page(`${path}/deployments`)
    return [first, second].map(({ id }) => text.includes(`${path}/deployments/${id}/rollback"`))
  }
  expect(await offered()).toEqual([true, false])
  moveDeployment(t.db, { id: second.id, from: ['running'], status: 'stopped' })
  expect(await offered()).toEqual([true, false])
  const { text } = await ada.page(`${path}/deployments/${second.id}`)
  expect(text).not.toContain('Roll back to this')
  expect(text).toContain(`action="/envs/${second.environmentId}/start"`)
})

test('a stopped app has no link to follow', async () => {
  const { t, ada, path, second } = await rolledBack()
  const links = async () => (await ada.page(path)).text.match(/class="app-link"/g)?.length ?? 0
  expect(await links()).toBe(1)
  moveDeployment(t.db, { id: second.id, from: ['running'], status: 'stopped' })
  expect(await links()).toBe(0)
})

test('every tab asks which environment is deployed where there are several', async () => {
  const { ada, path } = await rolledBack()
  await ada.post(`${path}/envs`, { name: 'staging' })
  for (const tab of ['', '/deployments', '/envs', '/deliveries', '/settings']) {
    const { text } = await ada.page(path + tab)
    expect(text, tab).toContain('id="deploy-environment"')
    expect(text, tab).toContain('Deploy…')
  }
})

test('a number is never used again, also when its environment was deleted', async () => {
  const { t, ada } = withAda(testApp())
  const { json: project } = await ada.post('/projects', { name: 'site', repositoryUrl })
  const [other] = (await ada.get(`/projects/${project.id}/envs`)).json.items
  const { json: second } = await ada.post(`/projects/${project.id}/envs`, { name: 'second' })
  const deploy = ({ id: environmentId }: { id: string }) =>
    insertDeployment(t.db, {
      ...{ projectId: project.id, environmentId, repositoryUrl, status: 'failed' },
      ...{ trigger: 'manual', triggeredBy: 'ada@example.com' },
    }).number
  expect([deploy(other), deploy(second)]).toEqual([1, 2])
  // as those that were made before the number was kept
  t.db.update(projects).set({ lastNumber: 0 }).run()
  expect(deploy(second)).toBe(3)
  t.db.delete(environments).where(eq(environments.id, second.id)).run()
  expect(deploy(other)).toBe(4)
})

test('an environment lists its own deployments, and no other’s', async () => {
  const { t, ada, path, first, second, environment } = await rolledBack()
  const { json: staging } = await ada.post(`${path}/envs`, { name: 'staging' })
  const place = { projectId: first.projectId, environmentId: staging.id, repositoryUrl }
  const who = { trigger: 'manual', triggeredBy: 'ada@example.com' } as const
  const other = insertDeployment(t.db, { ...place, ...who, status: 'failed' })
  const idsOf = async (id: string) =>
    (await ada.get(`${path}/envs/${id}/deployments`)).json.items.map(
      (item: { id: string }) => item.id,
    )
  expect(await idsOf(environment.id)).toEqual([second.id, first.id])
  expect(await idsOf(staging.id)).toEqual([other.id])
  const { text } = await ada.page(`${path}/envs/${staging.id}/deployments`)
  expect(text).toContain(`/deployments/${other.id}"`)
  expect(text).not.toContain(`/deployments/${first.id}"`)
})
