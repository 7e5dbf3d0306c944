import { expect, test } from 'bun:test'
import { anApp, aService } from '../map/owned.ts'
import { testApp, withAda } from '../support/app.ts'
import { findingsOn } from '../support/axe.ts'
import { openAs } from '../support/browser.ts'

async function opened() {
  const { t, ada } = withAda(testApp())
  const app = await anApp(t, ada, { name: 'hello', processes: {} })
  const { page, complaints } = await openAs(t, ada.user)
  const palette = page.getByRole('dialog', { name: 'Search' })
  const field = page.getByRole('combobox', { name: 'Search' })
  const option = (name: string | RegExp) => page.getByRole('option', { name })
  return { t, ada, app, page, complaints, palette, field, option }
}

test('Ctrl-K finds a page, and the keyboard chooses and opens it', async () => {
  const { app, page, complaints, field, option } = await opened()
  const asked: string[] = []
  page.on('request', (request) => void asked.push(new URL(request.url()).pathname))
  await page.goto('/dashboard')
  expect(asked).not.toContain('/static/palette.js')
  await page.keyboard.press('Control+k')
  await option(/^Dashboard/).waitFor()
  expect(await page.evaluate("document.activeElement.getAttribute('role')")).toBe('combobox')
  await page.keyboard.type('hello')
  await option(/^Dashboard/).waitFor({ state: 'hidden' })
  const chosen = page.locator('[aria-selected=true]')
  expect(await chosen.getAttribute('id')).toBe(await field.getAttribute('aria-activedescendant'))
  expect(await chosen.textContent()).toStartWith('hello')
  await page.keyboard.press('ArrowUp')
  const last = await chosen.textContent()
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('ArrowDown')
  expect(last).not.toBe(await chosen.textContent())
  expect(await chosen.textContent()).toStartWith('hello / production')
  await page.keyboard.press('Enter')
  await page.waitForURL(`**/projects/${app.projectId}/envs/${app.id}`)

  await page.keyboard.press('Meta+k')
  await field.waitFor()
  await page.keyboard.press('Escape')
  await field.waitFor({ state: 'hidden' })
  expect(complaints).toEqual([])
})

test('Enter does what was typed last, though its answer was not there yet', async () => {
  const { page, option } = await opened()
  await page.goto('/dashboard')
  await page.keyboard.press('Control+k')
  await option(/^Dashboard/).waitFor()
  await page.keyboard.type('audit')
  await page.keyboard.press('Backspace')
  await page.keyboard.type('x nothing is named so')
  await page.keyboard.press('Enter')
  await page.getByText('Nothing found.').first().waitFor()
  expect(new URL(page.url()).pathname).toBe('/dashboard')
  await page.keyboard.press('Control+a')
  await page.keyboard.type('tokens')
  await page.keyboard.press('Enter')
  await page.waitForURL('**/settings/tokens')
})

test('an action is sent, and what it answers is read', async () => {
  const { ada, app, page, option, complaints } = await opened()
  await page.goto('/settings/profile')
  await page.keyboard.press('Control+k')
  await page.keyboard.type('deploy hello')
  await option(/^Deploy hello/).click()
  await page.waitForURL(`**/projects/${app.projectId}/deployments/*`)
  const { items } = (await ada.get(`/projects/${app.projectId}/deployments`)).json
  expect(items).toHaveLength(1)
  expect(complaints).toEqual([])
})

test('it is opened by its button and by touch, and axe finds nothing in any look', async () => {
  const { t, ada, page, option, complaints, palette } = await opened()
  aService(t, ada, { name: '🚢 متجر '.repeat(6).trim() })
  await page.goto('/projects')
  await page.setViewportSize({ width: 390, height: 844 })
  await page.getByRole('link', { name: 'Search' }).click()
  await option(/^Dashboard/).waitFor()
  expect(await findingsOn(page)).toEqual([])
  await page.keyboard.type('متجر')
  await option(/متجر/).first().waitFor()
  expect(await findingsOn(page)).toEqual([])
  await palette.getByRole('button', { name: 'Close' }).click()
  await page.goto('/search?q=%D9%85%D8%AA%D8%AC%D8%B1')
  expect(await findingsOn(page)).toEqual([])
  expect(complaints).toEqual([])
})

test('a Mac shows its own key', async () => {
  const { page } = await opened()
  const shown = () => page.locator('.search-button kbd').textContent()
  await page.goto('/dashboard')
  expect(await shown()).toBe('Ctrl K')
  await page.addInitScript(
    "Object.defineProperty(navigator, 'platform', { get: () => 'MacIntel' })",
  )
  await page.reload()
  expect(await shown()).toBe('⌘ K')
})
