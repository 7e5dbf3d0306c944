import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { anApp, aRepository } from './deployments/apps.ts'
import { lengthenLog } from './logs/stored-lines.ts'
import { createAndDeploy, deleteProject, openBrowser, register } from './support/browser.ts'
import { until } from './support/until.ts'

test('no page breaks its content policy or is wider than the window', async () => {
  const { page, directory, complaints } = await openBrowser()
  await register(page)
  const { url } = aRepository(directory, anApp('x'))
  const project = await createAndDeploy(page, { name: 'a name of many words '.repeat(2), url })
  const deployment = new URL(page.url()).pathname
  await page.locator('.app-link').waitFor()
  await page.goto(`${project}/envs`)
  const environment = (await page.locator('.row-link').getAttribute('href'))!
  const env = environment.replace(/.*\/envs/, '/envs')
  const ofEnvironment = ['variables', 'links', 'links/new', 'links/new?template=postgresql', 'runs']
  const tabs = ['', '/deployments', '/envs', '/deliveries', '/settings', '/delete']
  const settings = ['profile', 'sessions', 'tokens', 'git', 'users', 'invites', 'audit']
  const paths = [
    '/dashboard',
    '/projects',
    '/projects/new',
    '/containers',
    '/api',
    '/nowhere',
    deployment,
    ...tabs.map((tab) => project + tab),
    environment,
    `${environment}/edit`,
    `${environment}/output`,
    ...ofEnvironment.map((tab) => `${env}/${tab}`),
    ...settings.map((name) => `/settings/${name}`),
  ]
  for (const path of paths) {
    await page.goto(path)
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      const root = page.locator(colorScheme === 'dark' ? 'html.dark' : 'html:not(.dark)')
      await root.waitFor()
      for (const width of [1280, 390]) {
        await page.setViewportSize({ width, height: 900 })
        const scroll = await root.evaluate((html) => html.scrollWidth)
        expect(scroll, `${path} at ${width}`).toBeLessThanOrEqual(width)
        const cutOff = await root.locator('.tabs-line').evaluateAll(countCutOff)
        expect(cutOff, `tabs of ${path} at ${width}`).toBe(0)
      }
    }
  }
  await deleteProject(page, project, 'a name of many words '.repeat(2).trim())
  expect(complaints).toEqual([])
}, 150_000)

/** Those that neither fit nor scroll. */
const countCutOff = (tabs: any[]) =>
  tabs.filter((line) => {
    const { overflowX } = line.ownerDocument.defaultView.getComputedStyle(line)
    return line.scrollWidth > line.clientWidth && overflowX !== 'auto'
  }).length

test.each(['nothing', 'log-view', 'app.js', 'logs?after'])(
  'a deployment that fails at once shows its whole log, also where %s comes after its end',
  async (late) => {
    const { page, directory, complaints } = await openBrowser()
    await register(page)
    const hasEnded = async () => {
      const answer = await page.request.get(page.url(), { headers: { Accept: 'application/json' } })
      return (await answer.json()).status === 'failed'
    }
    await page.route(
      (address) => address.href.includes(late),
      async (route) => {
        if (page.url().includes('/deployments/')) await until(hasEnded)
        await route.fallback()
      },
    )
    const { url } = aRepository(directory, { 'no-dockerfile': 'x' })
    await createAndDeploy(page, { name: 'site', url })

    await page.locator('.status-line').getByText('Failed').waitFor()
    await page
      .locator('[data-log-state]')
      .filter({ hasText: /^\d+ lines$/ })
      .waitFor()
    await page.locator('.line').filter({ hasText: 'Failed: ' }).waitFor()
    expect(await page.locator('.line').count()).toBeGreaterThan(3)
    expect(complaints).toEqual([])
  },
)

test('a log of 100,000 lines is there at once, and every line of it can be reached', async () => {
  const { page, directory, complaints } = await openBrowser()
  await register(page)
  const { url } = aRepository(directory, { 'no-dockerfile': 'x' })
  await createAndDeploy(page, { name: 'site', url })
  await page.locator('.status-line').getByText('Failed').waitFor()
  const id = page.url().split('/').at(-1)!
  lengthenLog(join(directory, 'data/logs.db'), id, {
    last: 100_000,
    text: (sequence) => (sequence === 70_000 ? 'a needle' : 'hay'),
  })

  const deployment = page.url()
  await page.goto('/dashboard')
  await page.goto(`${deployment}#L54321`)
  await page.locator('#L54321').waitFor()
  expect(await page.locator('.line').count()).toBeLessThan(500)
  await page.fill('input[type=search]', 'needle')
  await page.keyboard.press('Enter')
  await page.locator('#L70000').waitFor()
  await page.locator('.log-scroller').evaluate((log) => (log.scrollTop = log.scrollHeight))
  await page.locator('#L100000').waitFor()
  expect(complaints).toEqual([])
})
