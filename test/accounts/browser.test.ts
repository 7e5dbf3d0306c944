import { expect, test } from 'bun:test'
import { simulatedApp } from '../support/app.ts'
import { account, openAs, openOn, register } from '../support/browser.ts'

test('a dialog opened by its address is a page, is refused in its place, and its token copied', async () => {
  const { page, complaints } = await openOn(simulatedApp())
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  await register(page)
  await page.goto('/settings/tokens/new')
  const form = page.locator('main section')
  await page.getByRole('heading', { level: 1, name: 'New API token' }).waitFor()
  await form.getByLabel('Name').fill('release pipeline')
  await form.getByLabel('Current password').fill('not the password')
  await form.getByRole('button', { name: 'Create API token' }).click()
  await form.getByText('Current password is wrong.').waitFor()
  expect(await form.getByLabel('Name').inputValue()).toBe('release pipeline')

  await form.getByLabel('Current password').fill(account.password)
  await form.getByRole('button', { name: 'Create API token' }).click()
  const token = await page.locator('main .shown-once code').textContent()
  await page.getByRole('button', { name: 'Copy' }).click()
  await page.getByRole('button', { name: 'Copied' }).waitFor()
  expect(token).toStartWith('dvt_')
  expect(await page.evaluate<string>('navigator.clipboard.readText()')).toBe(token!)
  expect(await page.locator('dialog[open]').count()).toBe(0)
  expect(complaints).toEqual([])
})

test('a token that is shown once stays until its button is pressed, whatever else closes dialogs', async () => {
  const t = simulatedApp()
  const { page } = await openAs(t, t.logIn('ada@example.com').user)
  await page.goto('/settings/tokens')
  await page.getByRole('link', { name: 'New API token' }).first().click()
  const dialog = page.locator('dialog[open]')
  await dialog.getByLabel('Name').fill('ci')
  await dialog.getByRole('button', { name: 'Create API token' }).click()
  const token = dialog.locator('.shown-once code')
  const shown = await token.textContent()
  await page.keyboard.press('Escape')
  await page.keyboard.press('Escape') // some browsers heed a page only once
  await page.mouse.click(2, 2)
  const isClosedElsewhere = await dialog.evaluate((element) =>
    element.dispatchEvent(new Event('cancel', { cancelable: true })),
  )
  expect([await token.textContent(), isClosedElsewhere]).toEqual([shown, false])
  await dialog.getByRole('button', { name: 'Done' }).click()
  await dialog.waitFor({ state: 'detached' })
})

test('the field to fill in next has the focus, from the first account to a computer’s code', async () => {
  const { page } = await openOn(simulatedApp())
  const focused = () => page.locator('input:focus').getAttribute('name')
  await page.goto('/auth/register')
  expect(await focused()).toBe('email')
  await register(page)
  await page.goto('/settings/device')
  expect(await focused()).toBe('code')
  await page.context().clearCookies()
  await page.goto('/login')
  expect(await focused()).toBe('email')
  await page.fill('[name=email]', account.email)
  await page.fill('[name=password]', 'not the password')
  await page.keyboard.press('Enter')
  await page.locator('.alert').waitFor()
  expect(await focused()).toBe('password')
})
