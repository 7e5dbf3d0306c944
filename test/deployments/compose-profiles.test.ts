import { expect, test } from 'bun:test'
import { simulatedApp, withAda } from '../support/app.ts'
import { aProject, anApp } from './apps.ts'

const compose = `services:
  web: {build: ., ports: ["8080"]}
  worker: {build: ., profiles: [jobs]}
`

test('a profile that was off at the build needs another one', async () => {
  const { t, ada } = withAda(simulatedApp())
  const project = await aProject(t, ada, { ...anApp('one'), 'compose.yaml': compose })
  await ada.put(`/projects/${project.id}/settings`, { composeFile: 'compose.yaml' })
  expect((await project.deploy()).status).toBe('running')
  await project.set({ key: 'COMPOSE_PROFILES', value: 'jobs' })
  const applied = await project.deploy({ reuseImage: true })
  expect(applied.error).toMatchObject({ code: 'compose_image_missing' })
  expect((await project.deploy()).status).toBe('running')
})

test('a project that came to deploy an image takes no service of the file', async () => {
  const { t, ada } = withAda(simulatedApp())
  const { id } = await aProject(t, ada, { ...anApp('one'), 'compose.yaml': compose })
  const path = `/projects/${id}/settings`
  expect((await ada.put(path, { composeFile: 'compose.yaml' })).status).toBe(200)
  await ada.put(`/projects/${id}`, { image: 'nginx:1.29' })
  for (const field of ['composeFile', 'composeService']) {
    const { status, json } = await ada.put(path, { [field]: 'web' })
    expect([status, json.errors[0].field]).toEqual([422, field])
  }
})
