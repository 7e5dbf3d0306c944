import { expect, test } from 'bun:test'
import { anApp } from '../map/owned.ts'
import { testApp, withAda } from '../support/app.ts'
import { openAs } from '../support/browser.ts'

test('a search follows what is typed, keeps the keyboard, and what changes appears in it', async () => {
  const { t, ada } = withAda(testApp())
  for (const name of ['shop', 'blog', 'shop of bob']) await anApp(t, ada, { name })
  const { page, complaints } = await openAs(t, ada.user)
  await page.goto('/dashboard')
  const rows = page.locator('.home-row .row-link')
  const search = page.getByRole('searchbox', { name: 'Search apps and services' })
  await search.pressSequentially('shop')
  await page.getByText('1 to 2 of 2 found, 3 in all').waitFor()
  expect(await rows.allTextContents()).toEqual(['shop of bob / production', 'shop / production'])
  expect(await page.evaluate<string>('document.activeElement.id')).toBe('listing-q')

  await page.getByLabel('Sort apps and services').selectOption('name')
  await page.waitForURL('**/dashboard?q=shop&sort=name')
  await anApp(t, ada, { name: 'shop of eve' })
  await anApp(t, ada, { name: 'other' })
  await page.getByText('1 to 3 of 3 found, 5 in all').waitFor()
  expect(await rows.allTextContents()).toEqual([
    ...['shop / production', 'shop of bob / production', 'shop of eve / production'],
  ])
  expect(await search.inputValue()).toBe('shop')

  // and Back leads to what was found
  await rows.first().click()
  await page.waitForURL(/\/envs\//)
  await page.goBack()
  await page.getByText('1 to 3 of 3 found').waitFor()
  await page.setViewportSize({ width: 390, height: 844 })
  expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBe(390)
  expect(complaints).toEqual([])
})
