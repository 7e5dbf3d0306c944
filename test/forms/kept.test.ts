import { expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { hashPassword } from '../../src/accounts/passwords.ts'
import { deleteSessionsOf, insertUser } from '../../src/accounts/store.ts'
import { simulatedApp } from '../support/app.ts'
import { account, openAs } from '../support/browser.ts'
import { aSession } from '../support/session.ts'
import { until } from '../support/until.ts'

const passwordHash = await hashPassword(account.password)

/** A browser in which someone is logged in. */
async function loggedIn() {
  const t = simulatedApp()
  const { email } = account
  const user = insertUser(t.db, { email, name: null, passwordHash, role: 'admin' })
  const { page } = await openAs(t, user)
  return { t, page, endSession: () => deleteSessionsOf(t.db, user.id) }
}

/** Types an address, and sees the name follow it. */
async function typeProject(page: Page) {
  await typeRepository(page, 'https://git.example.com/team/site.git', 'site')
}

async function typeRepository(page: Page, address: string, name: string) {
  await page.fill('[name=repository_url]', address)
  await until(async () => (await page.inputValue('[name=name]')) === name)
}

async function aProject(page: Page) {
  await page.goto('/projects/new')
  await typeProject(page)
  await page.getByRole('button', { name: 'Create project', exact: true }).click()
  await page.waitForURL(/projects\/[\w-]{36}$/)
}

const logIn = async (page: Page) => {
  await page.waitForURL(/login/)
  await page.fill('[name=email]', account.email)
  await page.fill('[name=password]', account.password)
  await page.getByRole('button', { name: 'Log in' }).click()
}

/** All that the browser keeps by itself. */
const storedText = (page: Page) =>
  page.evaluate<string>('JSON.stringify({ ...sessionStorage, ...localStorage })')

const htmlOf = (page: Page) => page.evaluate<string>('document.documentElement.outerHTML')

test('what was typed survives a server that is away, and is sent again from there', async () => {
  const { page } = await loggedIn()
  await page.goto('/projects/new')
  await typeProject(page)
  await page.route('**/projects', (route) => route.abort('connectionrefused'))
  await page.getByRole('button', { name: 'Create project', exact: true }).click()
  await page.getByRole('heading', { name: 'Davit isn’t reachable' }).waitFor()
  expect(await page.inputValue('[name=name]')).toBe('site')
  await page.unroute('**/projects')
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.waitForURL(/projects\/[\w-]{36}$/)
})

test('a proxy that answers for a server that is away replaces nothing', async () => {
  const { page } = await loggedIn()
  await page.goto('/projects/new')
  await typeProject(page)
  await page.route('**/projects', (route) => route.fulfill({ status: 502, body: '<h1>Bad</h1>' }))
  await page.getByRole('button', { name: 'Create project', exact: true }).click()
  await page.getByRole('heading', { name: 'Davit isn’t reachable' }).waitFor()
  expect(await page.inputValue('[name=name]')).toBe('site')
})

test('refused input is there after a reload and after Back, until it is taken', async () => {
  const { page } = await loggedIn()
  await page.goto('/projects/new')
  await typeRepository(page, 'ext::sh -c id', 'sh -c id')
  await page.fill('[name=name]', 'site')
  await page.getByRole('button', { name: 'Create project', exact: true }).click()
  await page.getByText('spaces').first().waitFor()
  const isThere = async () => {
    await page.getByText('it isn’t saved yet').waitFor()
    expect(await page.inputValue('[name=repository_url]')).toBe('ext::sh -c id')
    expect(await page.inputValue('[name=name]')).toBe('site')
  }
  await page.reload()
  await isThere()
  await page.goto('/services')
  await page.goBack()
  await isThere()
  await page.fill('[name=repository_url]', 'https://git.example.com/team/site.git')
  await page.getByRole('button', { name: 'Create project', exact: true }).click()
  await page.waitForURL(/projects\/[\w-]{36}$/)
  await page.goto('/projects/new')
  expect(await page.inputValue('[name=name]')).toBe('')
})

test('a form whose session has ended is filled in again after the login', async () => {
  const { page, endSession } = await loggedIn()
  await page.goto('/projects/new')
  await typeProject(page)
  endSession()
  await page.getByRole('button', { name: 'Create project', exact: true }).click()
  await page.waitForURL(/login/)
  await logIn(page)
  await page.waitForURL(/projects\/new/)
  await page.getByText('it isn’t saved yet').waitFor()
  expect(await page.inputValue('[name=name]')).toBe('site')
  expect(await storedText(page)).not.toContain(account.password)
  await page.getByRole('button', { name: 'Create project', exact: true }).click()
  await page.waitForURL(/projects\/[\w-]{36}$/)
})

test('so is one in a dialog, which opens again, but for its secrets', async () => {
  const { page, endSession } = await loggedIn()
  await aProject(page)
  await page.click('text=Variables')
  await page.waitForURL(/variables/) // before its scripts are there, a dialog is a page
  await page.getByRole('link', { name: 'New variable' }).click()
  const dialog = page.locator('dialog[open]')
  await dialog.locator('[name=key]').fill('1 API_TOKEN')
  await dialog.locator('[name=value]').fill('a-secret-value')
  await dialog.locator('input[type=checkbox][name=build_time]').check()
  expect(await dialog.getByLabel('Secret').isChecked()).toBe(true)

  await dialog.getByRole('button', { name: 'Add' }).click()
  await dialog.locator('#field-key-error').waitFor()
  await until(async () => (await dialog.locator('[name=value]').inputValue()) === 'a-secret-value')
  expect(await htmlOf(page)).not.toContain('a-secret-value')

  endSession()
  await dialog.locator('[name=key]').fill('API_TOKEN')
  await dialog.getByRole('button', { name: 'Add' }).click()
  await page.waitForURL(/login/)
  expect(await storedText(page)).not.toContain('a-secret-value')
  await logIn(page)
  await page.waitForURL(/variables/)
  await dialog.getByText('Enter passwords and secrets again').waitFor()
  expect(await dialog.locator('[name=key]').inputValue()).toBe('API_TOKEN')
  expect(await dialog.locator('[name=value]').inputValue()).toBe('')
  expect(await dialog.getByLabel('Also use in builds').isChecked()).toBe(true)
})

test('a dialog that was closed stays closed, and has what was typed once it is opened', async () => {
  const { page } = await loggedIn()
  await aProject(page)
  await page.click('text=Variables')
  await page.waitForURL(/variables/)
  const key = page.locator('dialog[open] [name=key]')
  const open = () => page.getByRole('link', { name: 'New variable' }).click()
  await open()
  await key.fill('1 COLOUR')
  await page.locator('dialog[open]').getByRole('button', { name: 'Add' }).click()
  await page.locator('dialog[open] #field-key-error').waitFor()
  await page.keyboard.press('Escape')
  await key.waitFor({ state: 'detached' })
  let requests = 0
  page.on('request', (request) => void (requests += Number(request.url().endsWith('/new'))))
  await page.reload()
  await open()
  await page.getByText('it isn’t saved yet').waitFor()
  expect(await key.inputValue()).toBe('1 COLOUR')
  expect(requests).toBe(1)
})

test('another user of the browser sees nothing of it, nor does anyone after a logout', async () => {
  const { t, page, endSession } = await loggedIn()
  await page.goto('/projects/new')
  await page.fill('[name=repository_url]', 'https://git.example.com/team/site.git')
  await page.fill('[name=name]', 'site of ada')
  endSession()
  await page.getByRole('button', { name: 'Create project', exact: true }).click()
  await page.waitForURL(/login/)
  const { user } = t.logIn('bob@example.com')
  t.db.$client.run(
    `UPDATE users SET password_hash = (SELECT password_hash FROM users WHERE email = 'ada@example.com') WHERE id = '${user.id}'`,
  )
  await page.fill('[name=email]', 'bob@example.com')
  await page.fill('[name=password]', account.password)
  await page.getByRole('button', { name: 'Log in' }).click()
  await page.waitForURL(/projects\/new/)
  expect(await page.inputValue('[name=name]')).toBe('')

  await page.fill('[name=name]', 'x')
  await page.getByRole('button', { name: 'Your account' }).click()
  await page.getByRole('button', { name: 'Log out' }).click()
  await page.waitForURL(/login/)
  expect(await storedText(page)).not.toContain('site of ada')
})

test('a password is shown on demand, hidden again when it is sent, and there is no button without script', async () => {
  const { page } = await loggedIn()
  await page.goto('/settings/profile')
  const field = page.locator('#field-password')
  await field.fill('another horse battery')
  const button = page.locator('[data-reveal=field-password]')
  expect(await button.getAttribute('aria-pressed')).toBe('false')
  await button.click()
  expect(await field.getAttribute('type')).toBe('text')
  expect(await button.getAttribute('aria-pressed')).toBe('true')
  await page.fill('#password-current', account.password)
  await page.route('**/settings/password', (route) => route.abort('connectionrefused'))
  await page.click('#password-form button[type=submit]')
  await page.getByRole('heading', { name: 'Davit isn’t reachable' }).waitFor()
  expect(await field.getAttribute('type')).toBe('password')
  expect(await field.inputValue()).toBe('another horse battery')

  const browser = page.context().browser()!
  const plain = await browser.newContext({ javaScriptEnabled: false })
  const other = await plain.newPage()
  await other.goto(`${new URL(page.url()).origin}/login`)
  expect(await other.locator('[data-reveal]').isVisible()).toBe(false)
  await plain.close()
})

test('what one person typed is removed as soon as another is logged in at the same browser', async () => {
  const { t, page, endSession } = await loggedIn()
  await page.goto('/projects/new')
  await page.fill('[name=repository_url]', 'ext::sh -c id')
  await page.fill('[name=name]', 'a-private-name')
  await page.getByRole('button', { name: 'Create project', exact: true }).click()
  await page.getByText('spaces').first().waitFor()
  endSession()
  const { user } = t.logIn('bob@example.com')
  const { origin: url } = new URL(page.url())
  await page.context().addCookies([{ name: 'svc_session', value: aSession(t, user.id), url }])
  expect(await storedText(page)).toContain('a-private-name')
  await page.goto('/dashboard')
  await until(() => page.evaluate<boolean>('Object.keys(sessionStorage).length === 0'))
})

test('after a refusal, a field that is edited loses its error, and what is derived from it follows until it is typed', async () => {
  const { page } = await loggedIn()
  await page.goto('/projects/new')
  await typeRepository(page, 'not a url', 'not a url')
  const create = page.getByRole('button', { name: 'Create project', exact: true })
  await create.click()
  await page.locator('#field-repository_url-error').waitFor()
  expect(await page.inputValue('[name=name]')).toBe('not a url')
  await typeRepository(page, 'https://git.example.com/team/site.git', 'site')
  expect(await page.locator('.field-error').count()).toBe(0)
  const field = page.locator('[name=repository_url]')
  expect(await field.getAttribute('aria-invalid')).toBeNull()
  expect(await field.getAttribute('aria-describedby')).toBe('field-repository_url-hint')

  await page.fill('[name=name]', 'mine')
  await page.fill('[name=repository_url]', 'ext::sh -c id')
  await create.click()
  await page.locator('#field-repository_url-error').waitFor()
  await page.fill('[name=repository_url]', 'https://git.example.com/team/other.git')
  await page.locator('#field-repository_url-error').waitFor({ state: 'detached' })
  expect(await page.inputValue('[name=name]')).toBe('mine')
  await page.fill('[name=name]', '')
  await typeRepository(page, 'https://git.example.com/team/third.git', 'third')
})

test('a box that was unticked stays so after a refusal, and follows again in the next form', async () => {
  const { page } = await loggedIn()
  await aProject(page)
  await page.click('text=Variables')
  const secret = page.locator('#modal [name=secret][type=checkbox]')
  const key = page.locator('#modal [name=key]')
  const open = async () => {
    await page.click('text=New variable')
    await key.fill('API_TOKEN')
    await until(() => secret.isChecked())
  }
  await open()
  await secret.uncheck()
  await key.fill('1 TOKEN')
  await page.click('#modal button[type=submit]')
  const error = page.locator('#modal #field-key-error')
  await error.waitFor()
  await key.fill('API_TOKEN_2')
  await error.waitFor({ state: 'detached' })
  expect(await secret.isChecked()).toBe(false)
  await page.keyboard.press('Escape')
  await open()
})

test('the passwords of a refused form are there again beside the names that the server drew', async () => {
  const { page } = await loggedIn()
  await aProject(page)
  await page.click('text=Variables')
  await page.waitForURL(/variables/)
  await page.goto(page.url().replace(/variables$/, 'domains'))
  await page.getByRole('link', { name: 'Add domain' }).first().click()
  const dialog = page.locator('dialog[open]')
  await dialog.locator('[name=host]').fill('not a name')
  await dialog.getByText('Access', { exact: true }).click()
  await dialog.locator('[name=basic_auth]').fill('ada:sesame')
  await dialog.getByRole('button', { name: 'Add domain' }).click()
  await dialog.locator('#field-host-error').waitFor()
  await until(async () => (await dialog.locator('[name=basic_auth]').inputValue()) === 'ada:sesame')
  expect(await dialog.locator('#field-basic_auth-error').count()).toBe(0)
  await dialog.locator('[name=host]').fill('a.example.com')
  await dialog.getByRole('button', { name: 'Add domain' }).click()
  await page.locator('.domain-row', { hasText: 'a.example.com' }).waitFor()
})
