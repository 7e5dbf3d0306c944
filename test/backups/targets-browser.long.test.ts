import { expect, onTestFinished, test } from 'bun:test'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openBrowser, register } from '../support/browser.ts'
import { ensureRestic } from '../support/images/restic.ts'

test('a person chooses a kind, adds a directory, keeps its key and tests it', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'davit-target-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const { page, complaints } = await openBrowser({
    env: { DAVIT_RESTIC_IMAGE: await ensureRestic() },
  })
  await register(page)
  await page.goto('/settings/targets')
  await page.getByRole('link', { name: 'New target' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Bucket').waitFor()
  for (const kind of ['SFTP', 'REST server', 'Directory']) {
    await dialog.getByRole('link', { name: kind }).click()
    await dialog
      .getByRole('link', { name: kind, exact: true })
      .and(page.locator('[aria-current]'))
      .waitFor()
  }
  expect(await dialog.count()).toBe(1)
  await dialog.getByLabel('Name').fill('disk')
  await dialog.getByLabel('Directory', { exact: true }).fill(join(folder, 'missing'))
  await dialog.getByRole('button', { name: 'Try out and add' }).click()
  await dialog.locator('#field-path-error').waitFor()
  expect(await dialog.getByLabel('Name').inputValue()).toBe('disk')
  await dialog.getByLabel('Directory', { exact: true }).fill(folder)
  await dialog.getByRole('button', { name: 'Try out and add' }).click()
  const key = await dialog.locator('.shown-once code').textContent()
  expect(key).toMatch(/^[\w-]{64}$/)
  expect(existsSync(join(folder, 'config'))).toBe(true)
  await dialog.getByRole('button', { name: 'Done' }).click()
  await page.getByRole('button', { name: 'Test: disk' }).click()
  await page.getByText('disk works').waitFor()
  expect(await page.content()).not.toContain(key!)
  await page.getByRole('link', { name: 'Edit disk' }).click()
  await dialog.getByLabel('Name').fill('other disk')
  await dialog.getByRole('button', { name: 'Try out and save' }).click()
  await page.getByText('other disk').first().waitFor()
  expect(complaints).toEqual([])
})
