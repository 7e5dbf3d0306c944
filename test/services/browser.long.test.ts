import { expect, test } from 'bun:test'
import { openBrowser, register } from '../support/browser.ts'
import { until } from '../support/until.ts'
import { site } from './instances.ts'

test('a service is made, looked at, changed and deleted, and its page follows by itself', async () => {
  const { page, complaints } = await openBrowser()
  await register(page)
  await page.goto('/services')
  await page.fill('[name=q]', 'postgres')
  await page.getByRole('link', { name: 'Ghost' }).waitFor({ state: 'detached' })
  await page.getByRole('link', { name: 'PostgreSQL' }).waitFor()

  await page.getByRole('link', { name: 'Bring your own' }).click()
  await page.fill('[name=name]', 'site')
  const compose = site.replace(
    'GREETING:-hello}',
    'GREETING:-hello}\n      DB_PASSWORD: ${DB_PASSWORD}',
  )
  await page.fill(
    '[name=compose]',
    compose.replace('ports:', 'volumes: [data:/data]\n    ports:') + 'volumes: { data: {} }',
  )
  await page.getByRole('button', { name: 'Read file' }).click()
  await page.fill('[name=DB_PASSWORD]', 'known to me alone')
  await page.getByRole('button', { name: 'Create and start' }).click()
  await page.waitForURL(/\/services\/[0-9a-f-]{36}$/)
  const path = new URL(page.url()).pathname
  const status = page.locator('.status-line')
  await page.evaluate('window.notReloaded = true')
  await status.getByText('Running').waitFor()
  expect(await page.evaluate('window.notReloaded')).toBe(true)
  expect(await page.content()).not.toContain('known to me alone')
  await page.getByRole('link', { name: 'Show secrets' }).click()
  await page.getByText('known to me alone').waitFor()

  await page.getByRole('link', { name: 'Change' }).click()
  await page.fill('[name=GREETING]', 'changed')
  await page.getByRole('button', { name: 'Preview changes' }).click()
  const dialog = page.locator('dialog[open]')
  await dialog.getByText('changed').waitFor()
  await dialog.getByRole('button', { name: 'Apply and start' }).click()
  await page.waitForURL(path)
  await status.getByText('Running').waitFor()
  const address = await page.locator('.app-link').getAttribute('href')
  const body = () => fetch(address!).then((response) => response.text(), String)
  await until(async () => (await body()).trim() === 'changed') // the old one serves at first

  await page.getByRole('link', { name: 'Delete…' }).click()
  await dialog.getByText('Delete its volume too').click()
  await dialog.getByRole('button', { name: 'Delete service' }).click()
  await page.getByText('was deleted').waitFor()
  await page.getByRole('link', { name: 'To the services' }).click()
  await page.getByText('No services yet').waitFor()
  expect(complaints).toEqual([])
})

test('a page whose log is continued by that of another change shows that one instead', async () => {
  const { page } = await openBrowser()
  await register(page)
  await page.goto('/services/compose/configure')
  await page.fill('[name=name]', 'site')
  await page.fill(
    '[name=compose]',
    'services: { one: { image: busybox, command: [sleep, "999"], healthcheck: { test: exit 1, retries: 1000 } } }',
  )
  await page.getByRole('button', { name: 'Read file' }).click()
  await page.getByRole('button', { name: 'Create and start' }).click()
  await page.waitForURL(/\/services\/[0-9a-f-]{36}$/)
  const stream = page.locator('[data-job] #log-stream')
  await stream.waitFor({ state: 'attached' })
  const job = await page.locator('[data-job]').getAttribute('data-job')
  const hear = (id: string) =>
    stream.evaluate((element, id) => {
      const message = { id, data: '<p id="L1" class="">x</p>' }
      const event = new CustomEvent('htmx:sse:before:message', { detail: { message } })
      ;(element as unknown as EventTarget).dispatchEvent(event)
    }, id)
  await page.evaluate('window.isSame = true')
  await hear(`${job}:1`)
  expect(await page.evaluate('window.isSame')).toBe(true)
  const reloaded = page.waitForEvent('load')
  await hear('another:1')
  await reloaded
})
