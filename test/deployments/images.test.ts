import { expect, test } from 'bun:test'
import { imageNameOf, renameOldImages } from '../../src/deployments/images.ts'
import { renameImage } from '../../src/deployments/store.ts'
import { simulatedApp } from '../support/app.ts'
import { aCommand, aProject } from './apps.ts'

test('an image with the name of an earlier version gets one that can’t be guessed, and is rolled back to', async () => {
  const t = simulatedApp()
  const ada = t.logIn('ada@example.com')
  const project = await aProject(t, ada, aCommand('sleep 9999'), { port: 0 })
  const deployment = await project.deploy()
  await t.jobs.idle() // what it tidies up after a deployment could be the old name
  const old = `davit/${project.id}:${deployment.id}`
  const { id } = (await t.docker.inspectImage(deployment.image))!
  await t.docker.tagImage(id, old)
  await t.docker.removeImage(deployment.image)
  renameImage(t.db, { from: deployment.image, to: old })

  await renameOldImages(t.deps)
  expect(await t.docker.inspectImage(old)).toBeNull()
  const name = imageNameOf(t, { projectId: project.id, id: deployment.id })
  expect(name).toBe(deployment.image)
  expect(name).toMatch(/-[0-9a-f]{32}$/)
  expect((await t.docker.inspectImage(name))?.id).toBe(id)
  const path = `/projects/${project.id}/deployments/${deployment.id}`
  expect((await ada.get(path)).json.image).toBe(name)
  await renameOldImages(t.deps)
  expect((await t.docker.inspectImage(name))?.id).toBe(id)
})
