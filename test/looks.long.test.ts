import { expect, test } from 'bun:test'
import { findingsOn } from './support/axe.ts'
import { openPage } from './support/browser.ts'
import { testApp } from './support/app.ts'
import { listening } from './support/listening.ts'
import { pagesOf, seeded } from './support/seeded.ts'

test('axe finds nothing on any page, light and dark, wide and narrow', async () => {
  const t = testApp({ DAVIT_REGISTRATION: 'invite' })
  const { ids, cookie } = await seeded(t)
  const pages = await pagesOf(t, ids, cookie)
  expect(Object.keys(pages).length).toBeGreaterThan(50)
  const url = `http://127.0.0.1:${listening(t).port}`
  const { page } = await openPage(url)
  const found: Record<string, string[]> = {}
  const look = async (name: string, path: string) => {
    await page.goto(path, { waitUntil: 'domcontentloaded' })
    const findings = await findingsOn(page)
    if (findings.length > 0) found[name] = findings
  }
  for (const path of ['/', '/login', '/auth/register']) await look(`${path} logged out`, path)
  await page.context().addCookies([{ name: 'svc_session', value: cookie, url }])
  for (const [name, path] of Object.entries(pages)) await look(name, path)
  await page.setViewportSize({ width: 1280, height: 900 })
  await page.goto(`/envs/${ids.environment}/variables`)
  await page.click('[aria-label="Your account"]')
  found.menu = await findingsOn(page)
  await page.keyboard.press('Escape')
  await page.setViewportSize({ width: 1280, height: 900 })
  await page.getByRole('link', { name: 'New variable' }).click()
  await page.locator('dialog[open] h2').waitFor()
  found.dialog = await findingsOn(page)
  expect(found).toEqual({ menu: [], dialog: [] })
}, 900_000)
