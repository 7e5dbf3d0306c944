import { expect, test } from 'bun:test'
import { releases } from '../../src/db/schema.ts'
import { simulatedApp, withAda } from '../support/app.ts'
import type { TestClient } from '../support/client.ts'
import { made, settled } from '../services/instances.ts'
import { anApp, aProject, cancel, finished, rollBack } from '../deployments/apps.ts'

type Project = Awaited<ReturnType<typeof aProject>>

const pathOf = ({ id, environmentId }: Project) => `/projects/${id}/envs/${environmentId}`

const pending = async (client: TestClient, project: Project) =>
  (await client.get(pathOf(project))).json.pendingChanges

const apply = (client: TestClient, { id, environmentId }: Project, more: object = {}) =>
  client.post(`/projects/${id}/deployments`, { environmentId, reuseImage: true, ...more })

test('what was changed since the live deployment is named, and applied without a build', async () => {
  const { t, ada } = withAda(simulatedApp())
  const project = await aProject(t, ada, anApp('x'))
  expect(await pending(ada, project)).toEqual([])
  await project.set({ key: 'KEPT', value: 'same' })
  await project.set({ key: 'PASSWORD', value: 'hunter22', secret: true })
  const first = await project.deploy()
  expect(await pending(ada, project)).toEqual([])

  const { items } = (await ada.get(`/envs/${project.environmentId}/variables`)).json
  const password = items.find(({ key }: { key: string }) => key === 'PASSWORD')
  const variable = `/envs/${project.environmentId}/variables/${password.id}`
  await ada.put(variable, { value: 'hunter23' })
  await project.set({ key: 'ADDED', value: 'new' })
  await project.configure({ memoryMb: 64 })
  expect(await pending(ada, project)).toEqual(['ADDED', 'PASSWORD', 'memoryMb'])
  const page = await ada.page(pathOf(project))
  expect(page.text).toContain('3 changes')
  expect(page.text).toContain('Apply changes')
  expect(page.text).not.toContain('hunter2')

  project.repository.commit(anApp('not built'))
  const answer = await apply(ada, project)
  expect(answer.status).toBe(201)
  expect(answer.json).toMatchObject({ status: 'pending', imageOf: first.id, rollbackOf: null })
  const applied = await finished(ada, answer.json)
  expect(applied).toMatchObject({ status: 'running', image: first.image, commit: first.commit })
  expect(applied.steps.map(({ name }: { name: string }) => name)).toEqual(['deploying'])
  expect(await pending(ada, project)).toEqual([])
  const container = await t.docker.inspectContainer(applied.containerId)
  expect(container!.env).toEqual(expect.arrayContaining(['ADDED=new', 'PASSWORD=hunter23']))
  expect(container!.memoryLimit).toBe(64 * 2 ** 20)

  await ada.put(variable, { value: 'hunter22' })
  expect(await pending(ada, project)).toEqual(['PASSWORD'])
  await ada.put(variable, { value: 'hunter23' })
  expect(await pending(ada, project)).toEqual([])
  await ada.delete(variable)
  expect(await pending(ada, project)).toEqual(['PASSWORD'])
  const sealed = t.db.select({ settings: releases.settings }).from(releases).all()
  expect(sealed.filter(({ settings }) => settings !== null)).toHaveLength(2)
  expect(JSON.stringify(sealed)).not.toContain('hunter')
})

test('a variable of the build stays pending until it is built again, and the page says so', async () => {
  const { t, ada } = withAda(simulatedApp())
  const project = await aProject(t, ada, anApp('x'), { port: 0 })
  await project.deploy()
  await project.set({ key: 'THEME', value: 'dark', buildTime: true })
  expect(await pending(ada, project)).toEqual(['THEME'])
  const page = await ada.page(pathOf(project))
  expect(page.text).toContain('THEME is also used by the build')
  expect(page.text).not.toContain('Apply changes')

  await project.configure({ memoryMb: 64 })
  expect((await ada.page(pathOf(project))).text).toContain('>Restarts the app with the same image')
  await project.configure({ releaseCommand: 'true' })
  expect((await ada.page(pathOf(project))).text).toContain('Runs the release command, then')
  await finished(ada, (await apply(ada, project)).json)
  expect(await pending(ada, project)).toEqual(['THEME'])
  await project.deploy()
  expect(await pending(ada, project)).toEqual([])
})

const store = `
x-davit:
  name: Store
  version: '1'
  variables:
    STORE_PASSWORD: { default: 'first password', secret: true }
  provides: { password: '\${STORE_PASSWORD}' }
services:
  data: { image: busybox, init: true, command: [sleep, '999'], stop_grace_period: 1s, environment: { P: '\${STORE_PASSWORD}' } }
`

test('a link is pending, and so is the password of its service when that was changed', async () => {
  const { t, ada } = withAda(simulatedApp())
  const project = await aProject(t, ada, anApp('x'), { port: 0 })
  await project.deploy()
  const service = await made(t, ada, store, { name: 'store' })
  const link = { serviceId: service.id, variables: { PASSWORD: 'password' } }
  expect((await ada.post(`/envs/${project.environmentId}/links`, link)).status).toBe(201)
  expect(await pending(ada, project)).toEqual(['PASSWORD', 'links'])
  await finished(ada, (await apply(ada, project)).json)
  expect(await pending(ada, project)).toEqual([])

  await ada.put(`/services/${service.id}`, { STORE_PASSWORD: 'another password' })
  expect((await settled(t, ada, service)).status).toBe('running')
  expect(await pending(ada, project)).toEqual(['PASSWORD'])
  expect((await ada.page(pathOf(project))).text).not.toContain('another password')
})

test('of a release that an earlier version made nothing is said', async () => {
  const { t, ada } = withAda(simulatedApp())
  const project = await aProject(t, ada, anApp('x'), { port: 0 })
  await project.deploy()
  t.db.update(releases).set({ settings: null }).run()
  await project.configure({ memoryMb: 64 })
  expect(await pending(ada, project)).toEqual([])
})

test('after a rollback the settings of today are live', async () => {
  const { t, ada } = withAda(simulatedApp())
  const project = await aProject(t, ada, anApp('first'), { port: 0 })
  const first = await project.deploy()
  project.repository.commit(anApp('second'))
  await project.deploy()
  await project.configure({ memoryMb: 64 })
  await finished(ada, (await rollBack(ada, first)).json)
  expect(await pending(ada, project)).toEqual([])
})

test('an image is reused only where one runs, and nothing else is asked for', async () => {
  const { t, ada } = withAda(simulatedApp())
  const project = await aProject(t, ada, anApp('x'), { port: 0 })
  const early = await apply(ada, project)
  expect(early.status).toBe(409)
  expect(early.json.detail).toContain('Nothing has been deployed to production yet')
  const first = await project.deploy()
  for (const more of [{ branch: 'main' }, { commit: 'a'.repeat(40) }]) {
    const { status, json } = await apply(ada, project, more)
    expect(status).toBe(422)
    expect(json.errors[0].message).toContain('can’t be combined with reusing the image')
  }
  t.deps.jobs.wake = () => {}
  const next = await project.trigger()
  const busy = await apply(ada, project)
  expect(busy.status).toBe(409)
  expect(busy.json.detail).toContain('A deployment to production is running')
  await cancel(ada, next)
  await t.docker.removeImage(first.image, { force: true })
  const gone = await apply(ada, project)
  expect(gone.status).toBe(409)
  expect(gone.json.detail).toContain('The live image of production was removed')
})
