import { onTestFinished } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chromium } from 'playwright-core'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { connectDocker } from '../../src/docker/index.ts'
import type { TestApp } from './app.ts'
import { startDavit } from './davit.ts'
import { listening } from './listening.ts'
import { findBrowser } from './machine/browsers.ts'
import { removeInstallation } from './remove-from-engine.ts'
import { aSession } from './session.ts'

/** Of the first user. */
export const account = { email: 'ada@example.com', password: 'correct horse battery' }

/** A Davit of its own and a browser in front of it; what the browser complains of is collected. */
export async function openBrowser({ env = {} }: { env?: Record<string, string> } = {}) {
  const directory = mkdtempSync(join(tmpdir(), 'davit-browser-'))
  const davit = await startDavit({
    directory,
    env: {
      DAVIT_DATA_DIR: join(directory, 'data'),
      DAVIT_ALLOW_LOCAL_REPOS: '1',
      DAVIT_SETTLE_TIME: '1',
      DAVIT_RATE_LIMIT: '10000',
      DAVIT_RATE_BURST: '10000',
      ...env,
    },
  })
  const opened = await openPage(davit.url)
  onTestFinished(async () => {
    await davit.stop()
    await removeInstallation(connectDocker(), join(directory, 'data'))
    rmSync(directory, { recursive: true, force: true })
  })
  return { ...opened, url: davit.url, davit, directory }
}

/** Milliseconds to wait for what comes: nearly all of a test's time, since a busy machine is slow. */
const patience = 110_000

/** Every tab of it waits as long, and outlives what containers do to the machine's network. */
async function launch(): Promise<Browser> {
  const browser = await chromium.launch({
    executablePath: findBrowser('chromium')!,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  })
  const open = browser.newContext.bind(browser)
  browser.newContext = async (options) => {
    const context = await open(options)
    context.setDefaultTimeout(patience)
    await outliveNetworkChanges(context)
    return context
  }
  return browser
}

/** Of this process, with which Playwright ends it: to start a browser takes longer than most tests. */
let launched: Promise<Browser> | null = null

/** A new profile of a browser, in front of that address; what it complains of is collected. */
export async function openPage(url: string) {
  const browser = await (launched ??= launch())
  const page = await (await browser.newContext({ baseURL: url })).newPage()
  const complaints: string[] = []
  page.on('pageerror', (error) => complaints.push(String(error)))
  let isBrokenOff = false
  page.on('requestfailed', (request) => {
    if (request.failure()?.errorText.includes('NETWORK_CHANGED')) isBrokenOff = true
  })
  page.on('console', (message) => {
    // a refusal on purpose is no complaint, nor is that containers elsewhere come and go
    const isNone = isBrokenOff
      ? /status of 4\d\d|NETWORK_CHANGED|Failed to fetch/
      : /status of 4\d\d|NETWORK_CHANGED/
    if (message.type() === 'error' && !isNone.test(message.text())) complaints.push(message.text())
  })
  onTestFinished(async () => {
    await Promise.all(browser.contexts().map((context) => context.close()))
  })
  return { page, complaints }
}

/** The same in front of the app of a test. */
export async function openOn(t: TestApp) {
  const { origin: url } = listening(t).url
  return { ...(await openPage(url)), url }
}

/** The same, logged in as that user. */
export async function openAs(t: TestApp, { id }: { id: string }) {
  const opened = await openOn(t)
  const { page, url } = opened
  await page.context().addCookies([{ name: 'svc_session', value: aSession(t, id), url }])
  return opened
}

/**
 * Chromium breaks its requests off whenever an interface comes or goes, as those of containers do all
 * the time: files are brought to it by us, and a page that was broken off is opened again.
 */
async function outliveNetworkChanges(context: BrowserContext) {
  const files = new Map<string, ReturnType<typeof read>>()
  const read = async (url: string) => {
    const answer = await fetch(url, { headers: { 'Accept-Encoding': 'identity' } })
    const headers = Object.fromEntries(answer.headers)
    return { status: answer.status, headers, body: Buffer.from(await answer.arrayBuffer()) }
  }
  await context.route('**/static/**', async (route) => {
    const url = route.request().url()
    if (!files.has(url)) files.set(url, read(url))
    const file = await files.get(url)!.catch(() => null) // the server stops as the test ends
    await (file ? route.fulfill(file) : route.abort())
  })
  context.on('page', openAgain)
}

function openAgain(page: Page) {
  const [open, reload] = [page.goto.bind(page), page.reload.bind(page)]
  page.goto = (url, options) => untilWhole(page, () => open(url, options))
  page.reload = (options) => {
    const url = page.url()
    return untilWhole(
      page,
      () => reload(options),
      () => open(url, options),
    )
  }
}

async function untilWhole<Result>(
  page: Page,
  attempt: () => Promise<Result>,
  again = attempt,
): Promise<Result> {
  try {
    return await attempt()
  } catch (error) {
    if (!String(error).includes('ERR_NETWORK_CHANGED')) throw error
    // the page that says so comes a moment later, and would interrupt the next attempt
    await page.waitForURL(/^chrome-error:/, { waitUntil: 'commit' })
    return untilWhole(page, again)
  }
}

/** Makes the first account, as a visitor does. */
export async function register(page: Page) {
  await page.goto('/')
  await page.fill('[name=email]', account.email)
  await page.fill('[name=password]', account.password)
  await page.click('main button[type=submit]')
  await page.waitForURL(/dashboard/)
}

/** Fills in the form of a new project; returns its address when the deployment's page is there. */
export async function createAndDeploy(page: Page, { name, url }: { name: string; url: string }) {
  await page.goto('/projects/new')
  await page.fill('[name=name]', name)
  await page.fill('[name=repository_url]', url)
  await page.click('button[name=deploy]')
  await page.waitForURL(/deployments\//)
  return new URL(page.url()).pathname.replace(/\/deployments.*/, '')
}

/** Deletes a project as its owner does, so that nothing stays on the engine. */
export async function deleteProject(page: Page, path: string, name: string) {
  await page.goto(`${path}/settings`)
  await page.click('text=Delete…')
  const dialog = page.locator('dialog[open]')
  await dialog.locator('input[type=text], input:not([type])').first().fill(name)
  await dialog.getByRole('button', { name: /delete/i }).click()
  await page
    .getByText(/went|gone|deleted/i)
    .first()
    .waitFor()
}
