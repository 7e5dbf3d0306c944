import { expect, test } from 'bun:test'
import { projects } from '../../src/db/schema.ts'
import { aBuild, aProject } from '../deployments/apps.ts'
import { logs } from '../deployments/events.ts'
import { testApp } from '../support/app.ts'
import { openAs } from '../support/browser.ts'

test('in a browser an admin cancels a build of another, and gives what they have to a third', async () => {
  const t = testApp()
  const [root, bob, eve] = [
    t.logInAsAdmin(),
    t.logIn('bob@example.com'),
    t.logIn('eve@example.com'),
  ]
  const project = await aProject(t, bob, aBuild('sleep 2222'), { name: 'site' })
  await logs(bob, await project.trigger(), 'RUN')
  const { page, complaints } = await openAs(t, root.user)

  await page.goto('/settings/activity')
  const cancel = page.getByRole('button', { name: 'Cancel site, production of bob@example.com' })
  await cancel.click()
  await cancel.waitFor({ state: 'detached' })

  await page.goto('/settings/users')
  await page.getByRole('link', { name: 'Delete bob@example.com' }).click()
  const dialog = page.locator('dialog[open]')
  await dialog.getByText('site').waitFor()
  await dialog.getByLabel('New owner').selectOption({ label: 'eve@example.com' })
  await dialog.getByRole('button', { name: 'Delete user' }).click()
  await dialog.waitFor({ state: 'detached' })
  await page.locator('#toasts').getByText('bob@example.com deleted.').waitFor()
  await page.locator('#users').getByText('root@example.com').waitFor()
  expect(await page.locator('#users').getByText('bob@example.com').count()).toBe(0)
  expect(t.db.select().from(projects).all()).toMatchObject([{ ownerId: eve.user.id }])
  expect(complaints).toEqual([])
})
