import { expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { idle } from '../services/instances.ts'
import { openBrowser, register } from '../support/browser.ts'
import { aFolder } from '../support/folder.ts'

const store = `
x-davit:
  name: Store
  description: Keeps things.
  category: database
  version: latest
  variables:
    STORE_PASSWORD: { generate: password, secret: true }
  provides:
    url: 'store://app:\${STORE_PASSWORD}@\${HOST}:7000'
    host: '\${HOST}'
  proposes: { STORE_URL: url }
services:
  data: { ${idle}, healthcheck: { disable: true }, environment: { P: '\${STORE_PASSWORD}' } }
`

test('a database is added by keyboard, seen among the variables, and removed', async () => {
  const templates = aFolder()
  writeFileSync(join(templates, 'store.yaml'), store)
  const { page, complaints } = await openBrowser({ env: { DAVIT_TEMPLATES_DIR: templates } })
  await register(page)
  await page.goto('/projects/new')
  await page.fill('[name=name]', 'shop')
  await page.fill('[name=repository_url]', 'https://git.example.com/team/shop.git')
  await page.getByRole('button', { name: 'Create project', exact: true }).click()
  await page.waitForURL(/projects\/[0-9a-f-]{36}/)
  await page.goto(`${new URL(page.url()).pathname}/envs`)
  await page.getByRole('link', { name: 'production', exact: true }).click()
  await page.waitForURL(/envs\/[\w-]+$/) // before its scripts are there, a dialog is a page

  const dialog = page.locator('dialog[open]')
  await page.getByRole('link', { name: 'Add database' }).press('Enter')
  await dialog.getByRole('link', { name: 'Store' }).press('Enter')
  await dialog.getByLabel('Name').fill('Main Store')
  const variables = dialog.getByLabel('Variables of the app')
  expect(await variables.inputValue()).toBe('STORE_URL=url')
  await variables.fill('STORE_URL=url\nSTORE_HOST=nothing')
  await dialog.getByLabel('Name').press('Enter')
  await dialog.locator('#field-variables-error').waitFor()
  expect(await dialog.getByLabel('Name').inputValue()).toBe('Main Store')
  expect(await page.evaluate<string>('document.activeElement.name')).toBe('variables')
  await variables.fill('STORE_URL=url\nSTORE_HOST=host')
  await dialog.getByRole('button', { name: 'Create and link' }).press('Enter')
  await page.waitForURL(/\/links$/)
  const links = page.locator('#links')
  await links.getByText('Running').waitFor() // the list follows by itself
  await links.getByText('main-store').waitFor()

  await page.getByRole('link', { name: 'Variables', exact: true }).click()
  const row = (key: string) => page.locator('.variable-row', { hasText: key })
  expect(await row('STORE_HOST').innerText()).toContain('main-store')
  expect(await row('STORE_URL').innerText()).not.toContain('store://')
  await page.getByRole('link', { name: 'New variable' }).click()
  await dialog.getByLabel('Name').fill('STORE_HOST')
  await dialog.getByLabel('Value').fill('my own')
  await dialog.getByRole('button', { name: 'Add' }).click()
  await row('STORE_HOST').getByText('overrides the one from').waitFor()
  await row('STORE_HOST').getByText('your own value is used').waitFor()

  await row('STORE_URL').getByRole('link', { name: 'Main Store' }).click()
  await page.getByRole('link', { name: 'shop production' }).waitFor()
  await page.getByRole('link', { name: 'Delete…' }).click()
  await dialog.getByText('An app uses it').waitFor()
  await dialog.getByRole('button', { name: 'Cancel' }).click()

  await page.locator('#main').getByRole('link', { name: 'shop production' }).click()
  await page.getByRole('button', { name: 'Remove the link to Main Store' }).press('Enter')
  await dialog.getByRole('button', { name: 'Remove link' }).press('Enter')
  await page.getByText('No database yet').waitFor()
  await page.getByRole('link', { name: 'Variables', exact: true }).click()
  await page.getByText('No linked services').waitFor()
  await page.goto('/services')
  await page.getByRole('link', { name: 'Main Store' }).click()
  await page.getByRole('link', { name: 'Delete…' }).click()
  await dialog.getByRole('button', { name: 'Delete service' }).click()
  await page.getByText('was deleted').waitFor()
  expect(complaints).toEqual([])
}, 120_000)
