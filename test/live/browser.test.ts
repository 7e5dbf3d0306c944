import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { testApp, withAda } from '../support/app.ts'
import { openBrowser, openPage, register } from '../support/browser.ts'
import { startDavit } from '../support/davit.ts'
import { everything } from '../support/everything.ts'
import { listening } from '../support/listening.ts'
import { aSession } from '../support/session.ts'

/** The page of an environment, opened by its owner, and a second tab of the same browser. */
async function anEnvironmentPage() {
  const opened = await openBrowser()
  const { page } = opened
  await register(page)
  await page.goto('/projects/new')
  await page.fill('[name=name]', 'site')
  await page.fill('[name=repository_url]', 'https://git.example.com/site.git')
  await page.getByRole('button', { name: 'Create project', exact: true }).click()
  await page.waitForURL(/projects\/[0-9a-f-]{36}$/)
  await page.goto(`${page.url()}/envs`)
  await page.getByRole('link', { name: 'production', exact: true }).click()
  await page.waitForURL(/envs\//)
  const path = new URL(page.url()).pathname
  /** Changes something as a program would, from a session of the same user. */
  const send = async (method: string, url: string, body: object) => {
    const cookies = await page.context().cookies()
    const token = cookies.find(({ name }) => name === 'svc_csrf')!.value
    const response = await fetch(url, {
      method,
      headers: {
        'Content-Type': 'application/json',
        Accept: 'application/json',
        Cookie: cookies.map(({ name, value }) => `${name}=${value}`).join('; '),
        'X-CSRF-Token': token,
      },
      body: JSON.stringify(body),
    })
    expect(response.status).toBeLessThan(300)
  }
  const setBranch = (url: string, branch: string) => send('PUT', url + path, { branch })
  return { ...opened, path, send, setBranch }
}

test('a page follows what it shows, and keeps the focus', async () => {
  const { page, davit, setBranch, complaints } = await anEnvironmentPage()
  await page.locator('#environment-status a').first().focus()
  const focused = () => page.evaluate<string>('document.activeElement.textContent')
  const before = await focused()
  await setBranch(davit.url, 'release')
  await page.getByText('release', { exact: true }).waitFor()
  expect(await focused()).toBe(before)
  expect(complaints).toEqual([])
})

test('a page says that Davit is away, and catches up when it is back', async () => {
  const { page, davit, directory, setBranch } = await anEnvironmentPage()
  const { url } = davit
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
    await setBranch(url, 'after')
    await page.getByText('after', { exact: true }).waitFor()
    await page.getByText('can’t be reached').waitFor({ state: 'hidden' })
    await refused.waitFor({ state: 'hidden' })
  } finally {
    await again.stop()
  }
})

test('what is typed stays when the session ends elsewhere, until it is sent', async () => {
  const { page, davit, path, send } = await anEnvironmentPage()
  await page.goto(`/envs/${path.split('/').at(-1)}/domains`)
  await page.getByRole('link', { name: 'Add domain' }).first().click()
  await page.fill('dialog [name=host]', 'shop.example.com')
  const refused = page.waitForResponse((answer) => answer.status() === 401)
  await send('POST', `${davit.url}/auth/logout`, {})
  await refused
  await page.locator('#live-stream > *').waitFor({ state: 'detached' })
  expect(await page.inputValue('dialog [name=host]')).toBe('shop.example.com')
})

test('a menu that is open stays the one of its row when rows come above it', async () => {
  const { page, davit, path, send } = await anEnvironmentPage()
  const environmentId = path.split('/').at(-1)
  const list = `${/^\/projects\/[^/]+/.exec(path)![0]}/deployments`
  const deploy = () => send('POST', davit.url + list, { environmentId })
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
