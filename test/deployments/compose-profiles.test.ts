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

test('a project with settings about commits deploys an image only without them', async () => {
  const { t, ada } = withAda(simulatedApp())
  const project = await aProject(t, ada, { ...anApp('one'), 'compose.yaml': compose })
  const path = `/projects/${project.id}`
  const environment = `${path}/envs/${project.environmentId}`
  const image = { image: 'nginx:1.29' }
  const refusedFor = async (at: string, change: Record<string, unknown>) => {
    const { status, json } = await ada.put(at, change)
    return status === 200 ? null : json.errors[0].field
  }
  for (const [at, field, value] of [
    [`${path}/settings`, 'composeFile', 'compose.yaml'],
    [environment, 'branch', 'main'],
    [environment, 'tags', 'v*'],
  ] as const) {
    expect(await refusedFor(at, { [field]: value })).toBeNull()
    expect(await refusedFor(path, image)).toBe('image')
    expect(await refusedFor(at, { [field]: null })).toBeNull()
  }
  expect(await refusedFor(path, { ...image, branch: 'main' })).toBe('branch')
  await ada.put(path, { branch: 'main' })
  expect((await ada.put(path, image)).json).toMatchObject({ ...image, branch: null })
  for (const field of ['composeFile', 'composeService'])
    expect(await refusedFor(`${path}/settings`, { [field]: 'web' })).toBe(field)
})
