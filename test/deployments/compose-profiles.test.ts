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
