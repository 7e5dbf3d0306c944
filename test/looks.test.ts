import { afterAll, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { simulatedApp } from './support/app.ts'
import { findingsOn } from './support/axe.ts'
import { openAs } from './support/browser.ts'
import { seeded } from './support/seeded.ts'
import { aSession } from './support/session.ts'

const t = simulatedApp({ DAVIT_REGISTRATION: 'invite' }, { atEnd: afterAll })
const { ids, root } = await seeded(t)

/** The installation in a browser that is logged in. */
const opened = async () => ({ t, ids, ...(await openAs(t, root.user)) })

test('axe finds nothing on pages with colours of all kinds; the rest is in the long test', async () => {
  const { page, ids } = await opened()
  const { project, environment } = ids
  const output = `/projects/${project}/envs/${environment}/output`
  for (const path of ['/services', output, '/settings/audit']) {
    await page.goto(path)
    expect(await findingsOn(page), path).toEqual([])
  }
})

test('a theme is chosen without a new page, and kept', async () => {
  const { page, ids, complaints } = await opened()
  await page.emulateMedia({ colorScheme: 'light' })
  await page.goto(`/envs/${ids.environment}/variables/new`)
  await page.fill('[name=key]', 'TYPED')
  await page.click('[aria-label="Your account"]')
  await page.click('[aria-label="Dark theme"]')
  expect(await page.inputValue('[name=key]')).toBe('TYPED')
  const isDark = () => page.locator('html.dark').count()
  expect(await isDark()).toBe(1)
  await page.goto('/services')
  expect(await isDark()).toBe(1)
  await page.click('[aria-label="Your account"]')
  await page.click('[aria-label="System theme"]')
  expect(await isDark()).toBe(0)
  expect(complaints).toEqual([])
})

test('who asks for less motion gets none, also in what opens and closes', async () => {
  const { page, ids } = await opened()
  await page.goto(`/settings/events/${ids.event}`)
  const parts = ['', '::before', '::after', '::details-content']
  const moving = () =>
    page.locator('*').evaluateAll(
      (all, parts) =>
        parts.filter((part) =>
          all.some((one) => {
            const { getComputedStyle } = one.ownerDocument.defaultView!
            return getComputedStyle(one, part).transitionDuration !== '0s'
          }),
        ),
      parts,
    )
  expect(await moving()).toContain('::details-content')
  await page.emulateMedia({ reducedMotion: 'reduce' })
  expect(await moving()).toEqual([])
})

test('a phone has its sections at the bottom, each whole', async () => {
  const { page } = await opened()
  await page.setViewportSize({ width: 390, height: 800 })
  await page.goto('/dashboard')
  const boxes = await Promise.all(
    (await page.locator('.sections a:visible').all()).map((link) => link.boundingBox()),
  )
  expect(boxes.length).toBe(5)
  for (const box of boxes) {
    expect(box!.x).toBeGreaterThanOrEqual(0)
    expect(box!.x + box!.width).toBeLessThanOrEqual(391)
    expect(box!.y + box!.height).toBeGreaterThan(790)
  }
})

test('what was done is said once, can be dismissed, and takes no focus', async () => {
  const { page, ids, complaints } = await opened()
  await page.goto(`/envs/${ids.environment}/variables/new`)
  await page.fill('[name=key]', 'COLOUR')
  await page.fill('[name=value]', 'blue')
  await page.click('main button[type=submit] >> nth=0')
  const toast = page.locator('#toasts .toast')
  await toast.getByText('Variable saved.').waitFor()
  expect(await page.locator('#toasts :focus').count()).toBe(0)
  await toast.getByRole('button', { name: 'Dismiss' }).click()
  expect(await toast.count()).toBe(0)
  await page.reload()
  expect(await toast.count()).toBe(0)
  expect(complaints).toEqual([])
})

test('a copy button copies, and says so', async () => {
  const { page, url, complaints } = await opened()
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'], { origin: url })
  await page.goto('/settings/invites')
  await page.getByRole('link', { name: 'New invitation' }).click()
  await page.getByRole('button', { name: 'Create invitation' }).click()
  await page.getByRole('button', { name: 'Copy the link' }).click()
  await page.locator('#announcer', { hasText: 'Copied.' }).waitFor({ state: 'attached' })
  const copied = await page.evaluate('navigator.clipboard.readText()')
  expect(copied).toMatch(/^http:.*invite=/)
  expect(complaints).toEqual([])
})

test('a time and its tooltip are in the zone of the browser', async () => {
  const { page, url } = await opened()
  const context = await page.context().browser()!.newContext({ timezoneId: 'Asia/Kolkata' })
  const [session] = await page.context().cookies()
  await context.addCookies([{ name: session!.name, value: session!.value, url }])
  const there = await context.newPage()
  await there.goto(`${url}/settings/invites`)
  const day = there.locator('time[data-day]').first()
  const at = new Date((await day.getAttribute('datetime'))!)
  const format = { timeZone: 'Asia/Kolkata', dateStyle: 'medium' } as const
  expect(await day.textContent()).toBe(at.toLocaleDateString('en-GB', format))
  const said = at.toLocaleString('en-GB', { ...format, timeStyle: 'long' })
  expect(await day.getAttribute('title')).toBe(said)
  await context.close()
})

test('charts are drawn when they are seen, and read by keyboard, value by value', async () => {
  const { page, ids, complaints } = await opened()
  const metrics = `/projects/${ids.project}/envs/${ids.environment}/metrics`
  await page.goto(metrics)
  const chart = page.getByRole('img', { name: 'CPU, the last hour' })
  await chart.locator('canvas').waitFor()
  await chart.focus()
  await page.keyboard.press('End')
  const value = page.locator('davit-chart').first().locator('.value')
  await value.getByText(/\d %/).waitFor()
  const last = await value.textContent()
  await page.keyboard.press('Home')
  await page.keyboard.press('ArrowRight')
  expect(await value.textContent()).not.toBe(last)
  const canvas = await chart.locator('canvas').elementHandle()
  const ask = `htmx.ajax('GET', '${metrics}?range=hour', { target: '#main', swap: 'innerMorph' })`
  await page.evaluate(ask)
  expect(await canvas!.evaluate((element) => element.isConnected)).toBe(true)
  expect(await findingsOn(page)).toEqual([])
  expect(complaints).toEqual([])
})

test('the left edge of a chart cuts no label of its times', async () => {
  const { page, ids } = await opened()
  await page.addInitScript(`
    const draw = CanvasRenderingContext2D.prototype.fillText
    window.labels = []
    CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
      labels.push({ text, left: x - this.measureText(text).actualBoundingBoxLeft })
      draw.call(this, text, x, y)
    }`)
  await page.goto(`/projects/${ids.project}/envs/${ids.environment}/metrics`)
  await page.locator('davit-chart canvas').first().waitFor()
  // begins a minute before a full hour
  const labels = await page.evaluate<{ text: string; left: number }[]>(`new Promise((resolve) => {
    const chart = document.querySelector('davit-chart')
    const values = JSON.parse(chart.dataset.values)
    const from = Math.floor(values.from / 3600) * 3600 - 60
    labels = []
    chart.dataset.values = JSON.stringify({ ...values, from, until: from + 3600 })
    requestAnimationFrame(() => requestAnimationFrame(() => resolve(labels)))
  })`)
  const times = labels.filter(({ text }) => /^\d\d:\d\d$/.test(text))
  expect(times.length).toBeGreaterThan(2)
  expect(times.filter(({ left }) => left < 0)).toEqual([])
})

test('a placeholder is whole', async () => {
  const { t, page, url } = await opened()
  const beginner = aSession(t, t.logIn('beginner@example.com').user.id)
  const shown = async (selector: string, path = '/dashboard') => {
    await page.goto(path)
    const field = page.locator(selector)
    await field.fill((await field.getAttribute('placeholder'))!)
    return field.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)
  }
  for (const width of [1280, 390]) {
    await page.setViewportSize({ width, height: 800 })
    expect(await shown('#listing-q'), `${width}`).toBe(0)
    for (const path of ['/search', '/docs'])
      expect(await shown('main [name=q]', path), `${path} ${width}`).toBe(0)
  }
  await page.context().addCookies([{ name: 'svc_session', value: beginner, url }])
  for (const width of [1280, 390]) {
    await page.setViewportSize({ width, height: 800 })
    expect(await shown('#first-repository'), `${width}`).toBe(0)
  }
})

test('on a phone what a row is about has most of its width', async () => {
  const { page, ids } = await opened()
  await page.setViewportSize({ width: 390, height: 800 })
  for (const path of ['links', 'variables', 'domains', 'schedules']) {
    await page.goto(`/envs/${ids.environment}/${path}`)
    const shares = await page
      .locator('.rows > li > .row-main')
      .evaluateAll((all) => all.map((one) => one.clientWidth / one.parentElement!.clientWidth))
    expect(shares, path).not.toEqual([])
    for (const share of shares) expect(share, path).toBeGreaterThan(0.5)
  }
})

test('a dot between two facts of a row ends no line of them, and begins none', async () => {
  const { page } = await opened()
  await page.setViewportSize({ width: 390, height: 800 })
  await page.goto('/dashboard')
  const row = page.locator('.deployment-row .row-facts', { hasText: 'push by ada' }).first()
  await row.scrollIntoViewIfNeeded()
  type Box = { x: number; y: number; width: number; height: number }
  // of their texts, without the dots
  const facts = await row.locator('> *').evaluateAll((all): Box[] =>
    all.map((fact) => {
      const range = fact.ownerDocument.createRange()
      range.selectNodeContents(fact)
      return range.getBoundingClientRect().toJSON()
    }),
  )
  const next = facts.findIndex(({ y }, at) => at > 0 && y > facts[at - 1]!.y + 10)
  expect(next).toBeGreaterThan(0)
  const [first, last, wrapped] = [facts[0]!, facts[next - 1]!, facts[next]!]
  const show = (visibility: string) =>
    page.evaluate(`for (const facts of document.querySelectorAll('.row-facts'))
      facts.style.visibility = '${visibility}'`)
  const drawnIn = async (x: number, { y, height }: Box) => {
    const clip = { x: Math.ceil(x) + 1, y, width: 16, height }
    const shown = await page.screenshot({ clip })
    await show('hidden')
    const empty = await page.screenshot({ clip })
    await show('visible')
    return !shown.equals(empty)
  }
  expect(await drawnIn(first.x + first.width, first)).toBe(true)
  expect(await drawnIn(last.x + last.width, last)).toBe(false)
  expect(await drawnIn(wrapped.x - 18, wrapped)).toBe(false)
})

test('what another server has to answer shows bars until it does', async () => {
  const { page } = await opened()
  await page.goto('/projects/new?from=address')
  const answered = Promise.withResolvers<void>()
  await page.route('**/api/git/look*', async (route) => {
    await answered.promise
    await route.fulfill({ contentType: 'text/html', body: '<p class="found">Found</p>' })
  })
  const bars = `getComputedStyle(document.querySelector('.waits'), '::before').content`
  expect(await page.evaluate(bars)).toBe('none')
  await page.fill('[name=repository_url]', 'https://git.example.com/a/b')
  await page.locator('.waits.htmx-request').waitFor({ state: 'attached' })
  expect(await page.evaluate(bars)).toBe('""')
  answered.resolve()
  await page.getByText('Found').waitFor()
})

test('a host that is away is said where its answer would stand, not in a dialog', async () => {
  const { page } = await opened() // whose git source has a host that does not exist
  await page.goto('/projects/new')
  await page.locator('#repositories .alert').waitFor()
  expect(await page.locator('dialog[open]').count()).toBe(0)
  expect(await findingsOn(page)).toEqual([])
})

test('without script what was done is a line on top of the page', async () => {
  const { page, url, ids } = await opened()
  const plain = await withoutScript(page, url)
  await plain.goto(`${url}/envs/${ids.environment}/variables/new`)
  await plain.fill('[name=key]', 'SHADE')
  await plain.click('main button[type=submit] >> nth=0')
  const toast = (await plain.locator('.toast', { hasText: 'Variable saved.' }).boundingBox())!
  expect(toast.y + toast.height).toBeLessThan((await plain.locator('h1').boundingBox())!.y)
  await plain.context().close()
})

async function withoutScript(page: Page, url: string) {
  const context = await page.context().browser()!.newContext({ javaScriptEnabled: false })
  const cookies = await page.context().cookies()
  await context.addCookies(cookies.map(({ name, value }) => ({ name, value, url })))
  return context.newPage()
}

test('without script charts are drawn by the server, with their figures in words', async () => {
  const { page, url, ids } = await opened()
  const plain = await withoutScript(page, url)
  await plain.goto(`${url}/projects/${ids.project}/envs/${ids.environment}/metrics`)
  await plain.getByRole('img', { name: 'CPU, the last hour' }).locator('.chart-line').waitFor()
  await plain
    .getByText(/average \d+ %, peak \d+ %/)
    .first()
    .waitFor()
  await plain.context().close()
})
