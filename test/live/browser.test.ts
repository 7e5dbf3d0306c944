import { expect, test } from 'bun:test'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { simulatedApp, testApp, withAda } from '../support/app.ts'
import { openBrowser, openOn, openPage, register } from '../support/browser.ts'
import { startDavit } from '../support/davit.ts'
import { everything } from '../support/everything.ts'
import { listening } from '../support/listening.ts'
import { aSession } from '../support/session.ts'

/** The page of an environment, opened by its owner. */
async function anEnvironmentPage<Opened extends { page: Page; url: string }>(opened: Opened) {
  const { page, url } = opened
  await register(page)
  /** Asks as a program would, from a session of the same user. */
  const send = async (method: string, path: string, body?: object) => {
    const cookies = await page.context().cookies()
    const token = cookies.find(({ name }) => name === 'svc_csrf')!.value
    const response = await fetch(url + path, {
      method,
      headers: {
        'Content-Type': 'application/json',
        Accept: 'application/json',
        Cookie: cookies.map(({ name, value }) => `${name}=${value}`).join('; '),
        'X-CSRF-Token': token,
      },
      ...(body && { body: JSON.stringify(body) }),
    })
    expect(response.status).toBeLessThan(300)
    const text = await response.text()
    return text === '' ? null : JSON.parse(text)
  }
  const repositoryUrl = 'https://git.example.com/site.git'
  const project = await send('POST', '/projects', { name: 'site', repositoryUrl })
  const [environment] = (await send('GET', `/projects/${project.id}/envs`)).items
  const path = `/projects/${project.id}/envs/${environment.id}`
  await page.goto(path)
  const setBranch = (branch: string) => send('PUT', path, { branch })
  return { ...opened, project, environment, send, setBranch }
}

const onEnvironment = async () => anEnvironmentPage(await openOn(simulatedApp()))

test('a page follows what it shows, and keeps the focus', async () => {
  const { page, setBranch, complaints } = await onEnvironment()
  await page.locator('#environment-status a').first().focus()
  const focused = () => page.evaluate<string>('document.activeElement.textContent')
  const before = await focused()
  await setBranch('release')
  await page.getByText('release', { exact: true }).waitFor()
  expect(await focused()).toBe(before)
  expect(complaints).toEqual([])
})

test('a page says that Davit is away, and catches up when it is back', async () => {
  const { page, url, davit, directory, setBranch } = await anEnvironmentPage(await openBrowser())
  process.kill(davit.pid, 'SIGKILL')
  await davit.exited
  await page.getByText('can’t be reached').waitFor()
  await page.getByRole('link', { name: 'Add database' }).click()
  const refused = page.getByRole('heading', { name: 'Davit isn’t reachable' })
  await refused.waitFor()
  const again = await startDavit({
    directory,
    env: {
      DAVIT_DATA_DIR: join(directory, 'data'),
      DAVIT_PORT: new URL(url).port,
    },
  })
  try {
    await setBranch('after')
    await page.getByText('after', { exact: true }).waitFor()
    await page.getByText('can’t be reached').waitFor({ state: 'hidden' })
    await refused.waitFor({ state: 'hidden' })
  } finally {
    await again.stop()
  }
})

test('what is typed stays when the session ends elsewhere, until it is sent', async () => {
  const { page, environment, send } = await onEnvironment()
  await page.goto(`/envs/${environment.id}/domains`)
  await page.getByRole('link', { name: 'Add domain' }).first().click()
  await page.fill('dialog [name=host]', 'shop.example.com')
  const refused = page.waitForResponse((answer) => answer.status() === 401)
  await send('POST', '/auth/logout', {})
  await refused
  await page.locator('#live-stream > *').waitFor({ state: 'detached' })
  expect(await page.inputValue('dialog [name=host]')).toBe('shop.example.com')
})

test('a menu that is open stays the one of its row when rows come above it', async () => {
  const { page, project, environment, send } = await onEnvironment()
  const list = `/projects/${project.id}/deployments`
  const deploy = () => send('POST', list, { environmentId: environment.id })
  await deploy()
  await page.goto(list)
  await page.getByLabel('Actions for #1').click()
  await deploy()
  await page.getByText('#2', { exact: true }).waitFor()
  const open = await page.locator('details[open] > summary').first().getAttribute('aria-label')
  expect(open).toBe('Actions for #1')
})

test('what one tab does shows in the other, and its logout ends both', async () => {
  const { t, ada } = withAda(testApp())
  const ids = await everything(t, ada)
  const { origin: url } = listening(t).url
  const { page } = await openPage(url)
  const context = await page.context().browser()!.newContext()
  await context.addCookies([{ name: 'svc_session', value: aSession(t, ada.user.id), url }])
  const [first, second] = [await context.newPage(), await context.newPage()]
  const path = `${url}/envs/${ids.environment}/variables`
  await Promise.all([first, second].map((page) => page.goto(path)))

  await second.getByRole('link', { name: 'New variable' }).click()
  await second.fill('dialog [name=key]', 'OF_THE_OTHER_TAB')
  await second.locator('dialog').getByRole('button', { name: 'Add' }).click()
  await first.getByText('OF_THE_OTHER_TAB').waitFor()

  await second.getByRole('button', { name: 'Your account' }).click()
  await second.getByRole('button', { name: 'Log out' }).click()
  await first.waitForURL(/login/)
})
