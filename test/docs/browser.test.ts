import { expect, test } from 'bun:test'
import { contents } from '../../src/docs/documents.ts'
import { simulatedApp } from '../support/app.ts'
import { openOn } from '../support/browser.ts'
import { until } from '../support/until.ts'

test('no document is wider than a phone: tables and code scroll by themselves', async () => {
  const { page, complaints } = await openOn(simulatedApp())
  await page.setViewportSize({ width: 390, height: 844 })
  const names = contents().flatMap(({ entries }) => entries.map(({ name }) => name))
  const wide: string[] = []
  for (const name of names) {
    await page.goto(`/docs/${name}`)
    const width = await page.locator('html').evaluate((html) => html.scrollWidth)
    if (width > 390) wide.push(`${name}: ${width}`)
  }
  expect(wide).toEqual([])
  await page.goto('/docs/security')
  const table = page.locator('.doc-table').first()
  expect(await table.evaluate((box) => box.scrollWidth > box.clientWidth)).toBe(true)
  await table.focus()
  await page.keyboard.press('ArrowRight')
  await until(() => table.evaluate((box) => box.scrollLeft > 0))
  expect(complaints).toEqual([])
}, 60_000)

test('a search leads to the heading that it found, and the contents stand beside it', async () => {
  const { page } = await openOn(simulatedApp())
  await page.setViewportSize({ width: 1280, height: 800 })
  await page.goto('/docs')
  await page.getByLabel('Search the documentation').fill('no_answer')
  await page.keyboard.press('Enter')
  await page.getByRole('link', { name: 'What failures mean: no_answer' }).click()
  await page.waitForURL(/\/docs\/failures#no_answer$/)
  await page.getByRole('heading', { name: 'no_answer' }).waitFor()
  expect(await page.locator(':target').getAttribute('id')).toBe('no_answer')
  const [text, nav] = await Promise.all(
    ['.docs-main', '.docs-nav'].map((part) => page.locator(part).boundingBox()),
  )
  expect(nav!.x + nav!.width).toBeLessThanOrEqual(text!.x)
}, 60_000)
