import { expect, test } from 'bun:test'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { aBuild, anApp, aRepository } from '../deployments/apps.ts'
import { createAndDeploy, deleteProject, openBrowser, register } from '../support/browser.ts'
import { startDavit } from '../support/davit.ts'

const failing = {
  Dockerfile: [
    'FROM busybox',
    `RUN for i in $(seq 60); do echo "a line $i of a build that goes well, and is long enough to break on a telephone"; done # ${Bun.randomUUIDv7()}`,
    `RUN echo '{"level":"warn","msg":"slow","took":12}'; sleep 1; echo "Error: no such module" >&2; exit 3`,
  ].join('\n'),
}

test('the page of a failed deployment folds its steps, quotes the error and goes to it', async () => {
  const { page, directory, complaints } = await openBrowser()
  await register(page)
  const { url } = aRepository(directory, failing)
  const project = await createAndDeploy(page, { name: 'Hello', url })
  await page.locator('.failure').waitFor()
  await page.reload()
  expect(await page.title()).toStartWith('Failed · Deployment #1 · Hello / production')
  await page.locator('.quote').getByText('Error: no such module').waitFor()
  await page.getByRole('button', { name: 'Deploy again' }).waitFor()

  const heads = page.locator('.line.fold')
  await heads.last().waitFor()
  const states = async () => ({
    open: await page.locator('.fold > button[aria-expanded=true]').allInnerTexts(),
    failed: await page.locator('.fold[data-state=failed]').count(),
  })
  expect((await states()).open.map((text) => text.includes('exit 3'))).toEqual([true])
  expect((await states()).failed).toBe(1)
  expect(await page.getByText('a line 7 of').count()).toBe(0)

  await page.getByRole('button', { name: 'First error' }).click()
  await page.locator('.line.error.selected', { hasText: 'Error: no such module' }).waitFor()
  await page.locator('.line.warn .unfold').click()
  await page.locator('.json-tree', { hasText: '"took": 12' }).waitFor()
  await page.fill('#log-query', 'a line 7 of')
  await page.keyboard.press('Enter')
  await page.locator('.line.match', { hasText: 'a line 7 of' }).waitFor()
  const link = (await page.locator('.line.match > a').getAttribute('href'))!
  await page.goto('/dashboard')
  await page.goto(`${project}/deployments`)
  await page.locator('.row-link').click()
  await page.evaluate(`location.hash = '${link}'`)
  await page.locator('.line.selected', { hasText: 'a line 7 of' }).waitFor()
  await withoutScript(page)

  await page.setViewportSize({ width: 390, height: 800 })
  await page.reload()
  await page.locator('.log.wrap .line.selected').waitFor()
  const sideways = await page
    .locator('.log-scroller')
    .evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)
  expect(sideways).toBe(0)
  await deleteProject(page, project, 'Hello')
  expect(complaints).toEqual([])
})

/** Its steps are there, and unfold. */
async function withoutScript(page: Page) {
  const context = await page
    .context()
    .browser()!
    .newContext({ javaScriptEnabled: false, storageState: await page.context().storageState() })
  const plain = await context.newPage()
  await plain.goto(page.url().replace(/#.*/, '')) // a line that is linked to unfolds its step
  const step = plain.locator('details', { hasText: 'a line 7 of' })
  expect(await step.getAttribute('open')).toBeNull()
  await step.locator('summary').click()
  expect(await step.getAttribute('open')).not.toBeNull()
  expect(await plain.locator('details[open]').last().innerText()).toContain('no such module')
  await context.close()
}

test('how someone reads logs is remembered', async () => {
  const { page, directory, complaints } = await openBrowser()
  await register(page)
  const { url } = aRepository(directory, { 'no-dockerfile': 'x' })
  await createAndDeploy(page, { name: 'site', url })
  await page.locator('.failure').waitFor()
  const time = page.locator('.line time').first()
  await page.getByText('View', { exact: true }).click()
  await page.getByLabel('Wrap long lines').check()
  await page.getByLabel('In UTC').check()
  await page.keyboard.press('Escape')
  await page.reload()
  await page.locator('.log.wrap').waitFor()
  await page.locator('.line time[title*="local time"]').first().waitFor()
  await page.getByText('View', { exact: true }).click()
  expect(await page.getByLabel('In UTC').isChecked()).toBe(true)
  await page.getByLabel('Hidden').check()
  await time.waitFor({ state: 'hidden' })
  await page.getByRole('button', { name: 'Full screen' }).click()
  await page.locator('.log.full').waitFor()
  await page.keyboard.press('Escape')
  await page.locator('.log:not(.full)').waitFor()
  expect(complaints).toEqual([])
})

test('a live log shows its newest lines, says when Davit is away, and goes on without a gap', async () => {
  const { page, davit, directory } = await openBrowser()
  await register(page)
  const ticks = 'for i in $(seq 500); do echo tick $i; sleep 0.1; done'
  const { url } = aRepository(directory, aBuild(ticks))
  const project = await createAndDeploy(page, { name: 'slow', url })
  const state = page.locator('[data-log-state]')
  await page.getByText('tick 60', { exact: true }).waitFor()
  await state.getByText('Following').waitFor()
  const scroller = page.locator('.log-scroller')
  const box = (await scroller.boundingBox())!
  expect(box.y + box.height).toBeLessThanOrEqual(page.viewportSize()!.height)

  const newest = page.getByRole('button', { name: /Jump to newest/ })
  await scroller.evaluate((box) => box.scrollBy(0, -600)) // at once: a wheel would roll on
  await newest.getByText(/new$/).waitFor()
  await newest.click()
  await state.getByText('Following').waitFor()
  expect(await newest.isVisible()).toBe(false)

  process.kill(davit.pid, 'SIGKILL')
  await davit.exited
  await state.getByText('Connection lost. Reconnecting…').waitFor()
  const again = await startDavit({
    directory,
    env: {
      DAVIT_DATA_DIR: join(directory, 'data'),
      DAVIT_ALLOW_LOCAL_REPOS: '1',
      DAVIT_PORT: new URL(davit.url).port,
    },
  })
  try {
    await state.getByText('Following').waitFor()
    await scroller.evaluate((box) => box.scrollTo(0, 0)) // only what is in view is drawn
    await page.locator('.fold', { hasText: 'Before this attempt' }).waitFor()
    await page.getByText('tick 5', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Cancel' }).click()
    await page.locator('.status-line').getByText('Cancelled').waitFor()
    await page.locator('.step[data-progress=cancelled]').waitFor()
    expect(await page.locator('.step[data-progress=done]').allInnerTexts()).not.toContain('Build')
    await state.getByText(/^[\d,]+ lines$/).waitFor()
    const shown = Number((await state.textContent())!.replace(/\D/g, ''))
    const log = await page.request.get(`${page.url()}/logs`, {
      headers: { Accept: 'application/json' },
      params: { limit: 10_000 },
    })
    const { items } = await log.json()
    expect(items.map(({ seq }: { seq: number }) => seq)).toEqual(
      items.map((_: unknown, at: number) => at + 1),
    )
    expect(shown).toBe(items.length)
    await page.locator('.fold[data-state=cancelled]').last().waitFor()
    await deleteProject(page, project, 'slow')
  } finally {
    await again.stop()
  }
})

test('the page of a deployment says that its app was stopped', async () => {
  const { page, directory, complaints } = await openBrowser()
  await register(page)
  const { url } = aRepository(directory, anApp('x'))
  const project = await createAndDeploy(page, { name: 'site', url })
  await page.locator('.app-link').waitFor()
  const { environmentId } = await (
    await page.request.get(page.url(), { headers: { Accept: 'application/json' } })
  ).json()
  const token = (await page.context().cookies()).find(({ name }) => name === 'svc_csrf')!.value
  await page.request.post(`/envs/${environmentId}/stop`, {
    headers: { Accept: 'application/json', 'X-CSRF-Token': decodeURIComponent(token) },
  })
  await page.locator('.status-line').getByText('Stopped').waitFor()
  expect(await page.locator('.app-link').count()).toBe(0)
  await deleteProject(page, project, 'site')
  expect(complaints).toEqual([])
})
