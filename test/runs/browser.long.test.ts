import { expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { openPage } from '../support/browser.ts'
import { listening } from '../support/listening.ts'
import { aSession } from '../support/session.ts'
import { until } from '../support/until.ts'
import { aLiveEnvironment } from './runs.ts'

/** A browser in which Ada is logged in, on the page with the runs of an environment. */
async function onRunsPage() {
  const live = await aLiveEnvironment()
  const { port } = listening(live.t)
  const url = `http://127.0.0.1:${port}`
  const opened = await openPage(url)
  const value = aSession(live.t, live.ada.user.id)
  await opened.page.context().addCookies([{ name: 'svc_session', value, url }])
  await opened.page.goto(live.path)
  return { ...live, ...opened }
}

const shows = (page: Page, text: string) =>
  until(async () =>
    (await page.locator('.xterm-rows').innerText()).replaceAll('\u00a0', ' ').includes(text),
  )

test('a command is run from the form, followed to its end, and run again', async () => {
  const { page, complaints } = await onRunsPage()
  await page.getByText('No runs yet').waitFor()
  await page.getByLabel('Command').fill(`sh -c 'echo first; sleep 2; echo last; exit 3'`)
  await page.getByRole('button', { name: 'Run command' }).click()
  await page.waitForURL(/runs\/.+/)
  await page.locator('.log-lines').getByText('first', { exact: true }).waitFor()
  await page.locator('#run-status').getByText('Failed').waitFor()
  await page.locator('#run-status').getByText('exit code 3').waitFor()
  await page.locator('.log-lines').getByText('last', { exact: true }).waitFor()
  const first = page.url()
  await page.getByRole('button', { name: 'Run again' }).click()
  await page.waitForURL((url) => url.href !== first && /runs\/.+/.test(url.href))
  await page.getByRole('button', { name: 'Cancel run' }).click()
  await page.locator('#run-status').getByText('Cancelled').waitFor()
  expect(complaints).toEqual([])
})

test('a command that is refused is still in the form, with why', async () => {
  const { page } = await onRunsPage()
  await page.getByLabel('Command').fill(`echo "open`)
  await page.getByRole('button', { name: 'Run command' }).click()
  await page.getByText('opens a " that is never closed').waitFor()
  expect(await page.getByLabel('Command').inputValue()).toBe(`echo "open`)
})

test('a console is opened in a terminal on the page, and its log is there once it has ended', async () => {
  const { page, complaints } = await onRunsPage()
  await page.getByLabel('Command').fill('sh')
  await page.getByLabel('Open a terminal').check()
  await page.getByRole('button', { name: 'Run command' }).click()
  await shows(page, '/ #')
  await page.keyboard.type('echo $((6 * 7)); exit 2\n')
  await page.getByRole('link', { name: 'Show log' }).click()
  await page.locator('.log-lines').getByText('42', { exact: true }).waitFor()
  expect(complaints).toEqual([])
})
