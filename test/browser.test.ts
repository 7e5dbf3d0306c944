import { expect, test } from 'bun:test'
import { anApp, aRepository } from './deployments/apps.ts'
import { simulatedApp } from './support/app.ts'
import { createAndDeploy, deleteProject, openBrowser, openOn, register } from './support/browser.ts'

test('the first visitor makes an account and watches a repository become a running app', async () => {
  const { page, directory, complaints } = await openBrowser()
  await page.goto('/')
  expect(page.url()).toEndWith('/auth/register')
  await register(page)
  const { url, commit } = aRepository(directory, anApp('first'))
  const project = await createAndDeploy(page, { name: 'site', url })

  // nothing is reloaded: lines, state, title and address arrive by themselves
  await page.locator('.app-link').waitFor()
  await page.getByRole('button', { name: 'Start the app' }).click()
  await page.getByText('Running at http://').waitFor()
  expect(await page.locator('h1').textContent()).toContain('Deployment #1')
  await page.getByText('A change').waitFor()
  const app = (await page.locator('.app-link').getAttribute('href'))!
  expect(await (await fetch(app)).text()).toBe('first')

  const first = page.url()
  commit({ 'www/index.html': 'second' })
  await page.goto(project)
  await page.getByRole('button', { name: 'Deploy', exact: true }).click()
  await page.waitForURL((address) => /deployments\//.test(address.href) && address.href !== first)
  await page.locator('.app-link').waitFor()
  expect(await (await fetch(app)).text()).toBe('second')

  await page.goto(first)
  await page.getByRole('link', { name: 'Roll back to this' }).click()
  await page.getByRole('dialog').getByText('Reverts').waitFor()
  await page.getByRole('button', { name: 'Roll back', exact: true }).click()
  await page.waitForURL((address) => address.href !== first)
  await page.locator('.app-link').waitFor()
  expect(await (await fetch(app)).text()).toBe('first')

  await deleteProject(page, project, 'site')
  expect(complaints).toEqual([])
})

test('a dialog keeps what was typed, shows what is wrong, and gives the focus back', async () => {
  const { page, complaints } = await openOn(simulatedApp())
  await register(page)
  await page.goto('/projects/new')
  await page.fill('[name=name]', 'site')
  await page.fill('[name=repository_url]', 'https://git.example.com/site.git')
  await page.getByRole('button', { name: 'Create project', exact: true }).click()
  await page.waitForURL(/projects\/[0-9a-f-]{36}$/)
  await page.goto(`${page.url()}/envs`)

  await page.getByRole('link', { name: 'New environment' }).click()
  const dialog = page.locator('dialog[open]')
  await dialog.locator('[name=name]').fill('production')
  await dialog.locator('[name=port]').fill('8080')
  await dialog.getByRole('button', { name: 'Create' }).click()
  await dialog.getByText(/with this name/).waitFor()
  expect(await dialog.locator('[name=name]').inputValue()).toBe('production')
  expect(await dialog.locator('[name=port]').inputValue()).toBe('8080')
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  await page.locator('a:focus', { hasText: 'New environment' }).waitFor()
  expect(complaints).toEqual([])
})
