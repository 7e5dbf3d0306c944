import { expect, test } from 'bun:test'
import { connectDocker } from '../../src/docker/index.ts'
import { anApp, aRepository } from '../deployments/apps.ts'
import { createAndDeploy, deleteProject, openBrowser, register } from '../support/browser.ts'
import { aStranger } from './engine.ts'

test('the list follows what is stopped and started, here and elsewhere, and nothing is reloaded', async () => {
  const { page, directory, complaints } = await openBrowser()
  await register(page)
  const { url } = aRepository(directory, anApp('x'))
  const project = await createAndDeploy(page, { name: 'site', url })
  await page.locator('.app-link').waitFor()
  await page.goto('/containers')
  await page.locator('main').evaluate((main) => main.setAttribute('data-kept', ''))
  const row = page.locator(`#project-${project.split('/').at(-1)} .container-row`)
  await row.getByText('Running').waitFor()

  await row.getByRole('button', { name: 'Stop' }).click()
  await row.getByText('Stopped').waitFor()
  await row.getByRole('button', { name: 'Start' }).click()
  await row.getByText('Running').waitFor()

  const id = (await row.getByRole('link').getAttribute('href'))!.split('/').at(-1)!
  const docker = connectDocker()
  await docker.stopContainer(id)
  await row.getByText('Stopped').waitFor()
  await docker.startContainer(id)
  await row.getByText('Running').waitFor()
  await docker.removeContainer(id, { force: true })
  await row.waitFor({ state: 'detached' })

  expect(await page.locator('main[data-kept]').count()).toBe(1)
  await deleteProject(page, project, 'site')
  expect(complaints).toEqual([])
})

test('the page of a container follows it, and asks before it stops what is not Davit’s', async () => {
  const { page, complaints } = await openBrowser()
  await register(page)
  const docker = connectDocker()
  const id = await aStranger({ docker }, 'sleep 999')
  await docker.startContainer(id)
  await page.goto(`/containers/${id}`)
  const status = page.locator('#container-status')
  await status.getByText('Running').waitFor()
  await status.getByRole('button', { name: 'Stop' }).click()
  const dialog = page.locator('#confirm')
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  await dialog.waitFor({ state: 'hidden' })
  expect(await docker.inspectContainer(id)).toMatchObject({ state: 'running' })

  await status.getByRole('button', { name: 'Stop' }).click()
  await dialog.getByRole('button', { name: 'Stop container' }).click()
  await status.getByText('Stopped').waitFor()
  await docker.startContainer(id)
  await status.getByText('Running').waitFor()
  await docker.removeContainer(id, { force: true })
  await status.getByText('This container was removed.').waitFor()
  expect(complaints).toEqual([])
})
