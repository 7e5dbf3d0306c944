import { expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { openBrowser, register } from '../support/browser.ts'

/** A web server that has said much, and a worker that has said less and goes on. */
const compose = `
services:
  web:
    image: busybox
    init: true
    stop_grace_period: 1s
    command:
      - sh
      - -c
      - awk 'BEGIN { for (n = 1; n <= 9000; n++) print "request", n }'; sleep 9999
  worker:
    image: busybox
    init: true
    stop_grace_period: 1s
    command:
      - sh
      - -c
      - awk 'BEGIN { for (n = 1; n <= 1500; n++) print "job", n }'; n=0; while sleep 1; do n=$$((n+1)); echo tick $$n; done
    depends_on: [web]
`

test('the lines of one process are found, gone through and followed, in its colour', async () => {
  const { page, complaints } = await openBrowser()
  await register(page)
  const service = await makeService(page)
  await page.goto(`/services/${service}/output`)
  await page.locator('.line', { hasText: 'tick 1' }).first().waitFor()
  const names = page.locator('.log-processes a')
  expect(await names.allTextContents()).toEqual(['All', 'web', 'worker'])
  const label = page.locator('.line > b.p1').first()
  expect(await label.textContent()).toBe('worker')
  const colours = [
    await label.evaluate('(element) => getComputedStyle(element).color'),
    await names
      .nth(2)
      .evaluate("(element) => getComputedStyle(element, '::before').backgroundColor"),
  ]
  expect(colours[0]).toBe(colours[1]!)

  await names.nth(2).click()
  await page.waitForURL(/\?process=worker$/)
  await page.locator('.line').last().waitFor()
  await page.locator('.line', { hasText: 'tick 3' }).first().waitFor() // it goes on
  expect(await page.locator('.line > b', { hasText: 'web' }).count()).toBe(0)
  await scrollToTop(page)
  await page.locator('.line > span', { hasText: /^job 1$/ }).waitFor()
  const count = await page.locator('[data-log-state]').textContent()
  expect(count).toMatch(/Paused · 1,5\d\d lines/)

  await page.fill('#log-query', 'job 700')
  await page.keyboard.press('Enter')
  await page.locator('.line.match', { hasText: 'job 700' }).waitFor()
  expect(await page.locator('#log-matches').textContent()).toBe('1 of 1')
  await page.fill('#log-query', 'request')
  await page.keyboard.press('Enter')
  await page.getByText('No match').waitFor()
  await page.fill('#log-query', '')
  await page.getByRole('button', { name: 'Follow' }).click()
  await page.locator('.line', { hasText: 'tick' }).last().waitFor()

  await names.nth(1).click() // both
  await page.waitForURL(/\?process=worker&process=web$/)
  await names.nth(2).click() // not the worker any more
  await page.waitForURL(/\?process=web$/)
  await page.locator('.line', { hasText: 'request 9000' }).waitFor()
  // a line far from the end, by its time: those around it are loaded
  const seq = await firstOf(page, `/services/${service}/output`, 'request 2000')
  await page.evaluate(`location.hash = '#L${seq}'`)
  await page.locator('.line.selected', { hasText: 'request 2000' }).waitFor()
  await page.locator('.line', { hasText: 'request 2001' }).waitFor()
  await scrollToTop(page)
  await page.locator('.line > span', { hasText: /^request 1$/ }).waitFor()
  await page.getByRole('button', { name: 'Follow' }).click()
  await page.locator('.line', { hasText: 'request 9000' }).waitFor()

  await page.setViewportSize({ width: 390, height: 800 })
  await page.goto(`/services/${service}/output`)
  await page.locator('.line > b.p1').first().waitFor()
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390)
  expect(complaints).toEqual([])
})

/** As often as more lines come. */
async function scrollToTop(page: Page) {
  const scroller = page.locator('.log-scroller')
  for (let before = -1, rounds = 0; rounds < 40; rounds++) {
    const height = await scroller.evaluate((element) => {
      element.scrollTop = 0
      return element.scrollHeight
    })
    if (height === before && rounds > 5) return
    before = height
    await page.waitForTimeout(100)
  }
}

async function makeService(page: Page): Promise<string> {
  const token = (await page.context().cookies()).find(({ name }) => name === 'svc_csrf')!.value
  const response = await page.request.post('/services/compose', {
    headers: { Accept: 'application/json', 'X-CSRF-Token': decodeURIComponent(token) },
    data: { name: 'shop', compose },
  })
  if (!response.ok()) throw new Error(`The service was refused: ${await response.text()}`)
  return (await response.json()).id
}

async function firstOf(page: Page, output: string, search: string): Promise<number> {
  const headers = { Accept: 'application/json' }
  const response = await page.request.get(output, { headers, params: { search, limit: 1 } })
  return (await response.json()).items[0].seq
}
