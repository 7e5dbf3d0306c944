import { expect, test } from 'bun:test'
import { kindNames, serverKinds } from '../../src/notifications/kinds.ts'
import { testApp, withAda } from '../support/app.ts'
import { findingsOn } from '../support/axe.ts'
import { openAs } from '../support/browser.ts'
import { until } from '../support/until.ts'

/** Stands in for notices of the system, which a browser without a screen doesn't show. */
const stub = `
  const shown = () => JSON.parse(localStorage.getItem('shown') ?? '[]')
  globalThis.Notification = class {
    static permission = localStorage.getItem('allowed') ?? 'default'
    static async requestPermission() {
      localStorage.setItem('allowed', 'granted')
      return (this.permission = 'granted')
    }
    constructor(title, { body }) {
      localStorage.setItem('shown', JSON.stringify([...shown(), title + ': ' + body]))
    }
  }`

test('a browser channel is made on its page, and shown once by one of several open pages', async () => {
  const { t, ada } = withAda(testApp())
  const { page, complaints } = await openAs(t, ada.user)
  await page.context().addInitScript(stub)
  await page.goto('/settings/channels')
  await page.getByRole('link', { name: 'New channel' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('link', { name: 'Browser' }).click()
  await dialog.locator('[aria-current]', { hasText: 'Browser' }).waitFor()
  await dialog.getByRole('textbox', { name: 'Name' }).fill('here')
  const told = Object.keys(kindNames).length - serverKinds.length // those of the server are for admins
  expect(await dialog.getByRole('checkbox').count()).toBe(told)
  expect(await findingsOn(page)).toEqual([])
  await dialog.getByRole('button', { name: 'Add channel' }).click()
  await page.getByRole('button', { name: 'Allow in this browser' }).click()
  await page.getByText('This browser shows notices.').waitFor()

  const other = await page.context().newPage()
  await other.goto('/dashboard')
  const [{ id }] = (await ada.get('/settings/channels')).json.items
  const send = () => ada.post(`/settings/channels/${id}/test`)
  await until(async () => (await send()).json.answer === 'shown')
  const shown = () => page.evaluate<string[]>(`JSON.parse(localStorage.getItem('shown') ?? '[]')`)
  await until(async () => (await shown()).length > 0)
  expect(await shown()).toEqual(['A test from Davit: The channel here works.'])

  await other.close()
  await page.goto('/dashboard')
  await until(async () => (await send()).json.answer === 'shown' && (await shown()).length > 1)
  expect(complaints).toEqual([])
})
