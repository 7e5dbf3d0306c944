import { expect, test } from 'bun:test'
import { openBrowser, register } from '../support/browser.ts'

test('a dialog that is a page of its own is refused in its place, and its token copied', async () => {
  const { page, complaints, account } = await openBrowser()
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  await register(page)
  await page.goto('/settings/tokens/new')
  const dialog = page.locator('dialog.modal')
  await dialog.getByLabel('Name').fill('release pipeline')
  await dialog.getByLabel('Current password').fill('not the password')
  await dialog.getByRole('button', { name: 'Create token' }).click()
  await dialog.getByText('Current password is wrong.').waitFor()
  expect(await dialog.count()).toBe(1)
  expect(await dialog.getByLabel('Name').inputValue()).toBe('release pipeline')

  await dialog.getByLabel('Current password').fill(account.password)
  await dialog.getByRole('button', { name: 'Create token' }).click()
  const token = await dialog.locator('code').textContent()
  await dialog.getByRole('button', { name: 'Copy' }).click()
  await dialog.getByRole('button', { name: 'Copied' }).waitFor()
  expect(token).toStartWith('dvt_')
  expect(await page.evaluate<string>('navigator.clipboard.readText()')).toBe(token!)
  expect(await dialog.count()).toBe(1)
  expect(complaints).toEqual([])
})
