import { expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { testApp } from './support/app.ts'
import { openPage } from './support/browser.ts'
import { listening } from './support/listening.ts'
import { pagesOf, seeded } from './support/seeded.ts'

/** The installation in a browser that is logged in. */
async function opened() {
  const t = testApp({ DAVIT_REGISTRATION: 'invite' })
  const { ids, cookie } = await seeded(t)
  const pages = Object.entries(await pagesOf(t, ids, cookie))
  const url = `http://127.0.0.1:${listening(t).port}`
  const { page } = await openPage(url)
  await page.context().addCookies([{ name: 'svc_session', value: cookie, url }])
  return { url, ids, pages, page }
}

/** Notes in the page what gets the focus, and what of it one can't see. */
const watchFocus = `
  reached = new Set()
  unseen = new Set()
  isAround = false
  nameOf = (element) =>
    element.tagName + ' ' + (element.getAttribute('aria-label') ?? element.textContent).trim().slice(0, 40)
  isMarked = (element) => ['', '::after'].some((part) => {
    const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(element, part)
    return (outlineStyle !== 'none' && parseFloat(outlineWidth) > 0) || boxShadow !== 'none'
  })
  covering = (element) => {
    const { left, right, top, bottom } = element.getBoundingClientRect()
    const at = (from, to, end) => (Math.max(from, 0) + Math.min(to, end)) / 2
    const seen = document.elementFromPoint(at(left, right, innerWidth), at(top, bottom, innerHeight))
    if (!seen) return 'the edge of the window'
    return element.contains(seen) || seen.contains(element) || seen.control === element ? null : nameOf(seen)
  }
  document.addEventListener('focusin', ({ target }) => {
    isAround ||= reached.has(target) && target.matches('.skip-link')
    reached.add(target)
    const focused = target.shadowRoot?.activeElement ?? target
    if (!isMarked(focused) && target.id !== 'main') unseen.add(nameOf(target) + ' has no mark')
    requestAnimationFrame(() => {
      const cover = document.activeElement === target && covering(target)
      if (cover) unseen.add(nameOf(target) + ' is covered by ' + cover)
    })
  })`

const missed = `[...document.querySelectorAll('a[href], button, input, select, textarea, summary')]
  .filter((one) => one.checkVisibility({ visibilityProperty: true }) && one.getClientRects().length > 0)
  .filter((one) => !one.disabled && one.tabIndex >= 0 && one.type !== 'radio' && !reached.has(one))
  .map((one) => nameOf(one) + ' is out of reach')`

test('Tab reaches all there is on every page, and one sees where', async () => {
  const { page, pages } = await opened()
  await page.setViewportSize({ width: 1280, height: 800 })
  const found: Record<string, string[]> = {}
  for (const [name, path] of pages) {
    const wrong = await tabThrough(page, path)
    // a network that comes or goes can open the page again in the middle of it
    const isWrong = wrong.length > 0 && (await tabThrough(page, path)).length > 0
    if (isWrong) found[name] = wrong
  }
  expect(found).toEqual({})
}, 900_000)

/** What these keys don't reach on that page, or the eye doesn't see. */
async function tabThrough(page: Page, path: string, keys = 'Tab') {
  await page.goto(path)
  await page.evaluate(watchFocus)
  for (let at = 0; at < 500; at++) {
    await page.keyboard.press(keys)
    if (at % 10 === 9 && (await page.evaluate('isAround'))) break
  }
  return page.evaluate<string[]>(`[...unseen, ...${missed}]`)
}

test('backwards, too: neither the bar on top nor the one below covers what has the focus', async () => {
  const { page, ids } = await opened()
  for (const width of [1280, 390]) {
    await page.setViewportSize({ width, height: 600 })
    for (const path of ['/docs/security', `/projects/${ids.project}/settings`, '/settings/profile'])
      for (const keys of ['Shift+Tab', 'Tab'])
        expect(await tabThrough(page, path, keys), `${path} by ${keys} at ${width}`).toEqual([])
  }
})

test('the first Tab of a page offers to skip to its content', async () => {
  const { page } = await opened()
  for (const path of ['/dashboard', '/login', '/docs']) {
    await page.goto(path)
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    expect(await page.evaluate('document.activeElement.id'), path).toBe('main')
  }
})

/** What opens a dialog on the page, by where it leads. */
const findOpeners = `[...(openers = new Map(
  [...document.querySelectorAll('main a[hx-target="#modal"], main form[hx-confirm] button:not([type=button])')]
    .filter((one) => one.checkVisibility())
    .map((one) => [one.getAttribute('href') ?? one.form.action + one.form.elements._method?.value, one])
    .map(([address, one]) => [address.replace(/[0-9a-f-]{36,}/g, ':id'), one])
)).keys()]`

test('every dialog opens by Enter, keeps the focus, closes by Escape, and gives the focus back', async () => {
  const { page, pages } = await opened()
  await page.setViewportSize({ width: 1280, height: 800 })
  const tried = new Set<string>()
  const found: string[] = []
  for (const [, path] of pages) {
    await page.goto(path)
    for (const name of await page.evaluate<string[]>(findOpeners)) {
      if (tried.has(name)) continue
      tried.add(name)
      const wrong = await tryDialog(page, name)
      if (wrong) found.push(`${name} of ${path}: ${wrong}`)
      if (wrong) await page.goto(path).then(() => page.evaluate(findOpeners))
    }
  }
  expect(found).toEqual([])
  expect(tried.size).toBeGreaterThan(20)
}, 600_000)

async function tryDialog(page: Page, name: string) {
  await page.evaluate(`openers.get('${name}').focus()`)
  await page.keyboard.press('Enter')
  const dialog = page.locator('dialog[open]')
  await dialog.waitFor({ state: 'attached' }) // its box is in it
  if (!(await dialog.evaluate((one) => one.contains(one.ownerDocument.activeElement))))
    return 'it opens without the focus'
  for (let at = 0; at < 20; at++) {
    await page.keyboard.press('Tab')
    const isIn = await dialog.evaluate((one) => {
      const { activeElement, body } = one.ownerDocument
      return activeElement === body || one.contains(activeElement) // the body: it is at the browser's own bar
    })
    if (!isIn) return 'the focus leaves it'
  }
  await page.keyboard.press('Escape')
  await page.locator('#modal > *, dialog[open]').waitFor({ state: 'detached' })
  const isBack = await page.evaluate(`openers.get('${name}') === document.activeElement`)
  return isBack ? null : 'the focus does not come back'
}

test('a menu closes by Escape and by a click elsewhere', async () => {
  const { page, ids } = await opened()
  await page.goto(`/projects/${ids.project}/deployments`)
  const menu = page.locator('.row-menu').first()
  const isOpen = () => menu.evaluate((one) => one.open)
  await menu.locator('summary').focus()
  await page.keyboard.press('Enter')
  expect(await isOpen()).toBe(true)
  await page.keyboard.press('Escape')
  expect(await isOpen()).toBe(false)
  expect(await page.evaluate('document.activeElement.tagName')).toBe('SUMMARY')
  await page.keyboard.press('Enter')
  await page.locator('h1').click()
  expect(await isOpen()).toBe(false)
})

/** What of a page is cut, as its letters can't be reached by scrolling. */
const cut = `[...document.querySelectorAll('main *, header *')]
  .filter((one) => one.checkVisibility() && one.getClientRects().length > 0)
  .filter((one) => !one.closest('.visually-hidden, svg, davit-chart, [popover]'))
  .filter((one) => {
    const { left, right } = one.getBoundingClientRect()
    if (right <= innerWidth + 1 && left >= -1) return false
    for (let at = one.parentElement; at; at = at.parentElement)
      if (['auto', 'scroll'].includes(getComputedStyle(at).overflowX)) return false
    return one.innerText?.trim()
  })
  .map((one) => one.tagName + ' ' + one.innerText.slice(0, 40))`

test('at 200 % no page scrolls sideways, and nothing on it is cut', async () => {
  const { url, page, pages } = await opened()
  const context = await page
    .context()
    .browser()!
    .newContext({
      baseURL: url,
      viewport: { width: 640, height: 400 },
      deviceScaleFactor: 2,
      storageState: await page.context().storageState(),
    })
  const zoomed = await context.newPage()
  const found: Record<string, string[]> = {}
  for (const [name, path] of pages) {
    await zoomed.goto(path)
    const wrong = await zoomed.evaluate<string[]>(cut)
    const width = await zoomed.evaluate<number>('document.documentElement.scrollWidth')
    if (width > 640) wrong.push(`it is ${width} px wide`)
    if (wrong.length > 0) found[name] = wrong
  }
  await context.close()
  expect(found).toEqual({})
}, 300_000)
