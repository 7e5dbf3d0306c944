import { expect, test } from 'bun:test'
import { testApp } from '../support/app.ts'
import { openAs, openPage } from '../support/browser.ts'
import { listening } from '../support/listening.ts'
import { aSession } from '../support/session.ts'
import { until } from '../support/until.ts'

test('a real browser without script registers, keeps a variable and a new password, and asks before it deletes', async () => {
  const t = testApp()
  const { page: first } = await openPage(listening(t).url.origin)
  const context = await first.context().browser()!.newContext({ javaScriptEnabled: false })
  const page = await context.newPage()
  const addresses: string[] = []
  page.on('request', (request) => addresses.push(request.url()))
  const { origin } = listening(t).url
  const secrets = ['correct horse battery', 'another horse battery', 'a-secret-value']

  await page.goto(`${origin}/`)
  await page.fill('[name=email]', 'ada@example.com')
  await page.fill('[name=password]', secrets[0]!)
  await page.click('main button[type=submit]')
  await page.waitForURL(/dashboard/)

  await page.goto(`${origin}/projects/new`)
  await page.fill('[name=name]', 'site')
  await page.fill('[name=repository_url]', 'https://git.example.com/team/site.git')
  await page.click('main button[type=submit]:not([name=deploy])')
  await page.waitForURL(/projects\/[\w-]{36}$/)
  await page.click('text=Variables')
  await page.click('text=Edit as text')
  await page.fill('[name=text]', `KEY=${secrets[2]}`)
  await page.click('text=Show changes')
  await page.click('text=Save changes')
  await page.click('[aria-label="Delete KEY"]')
  await page.getByRole('heading', { name: 'Delete the variable KEY?' }).waitFor()
  await page.click('main button[type=submit]')
  await page.getByText('No variables yet').waitFor()

  await page.goto(`${origin}/settings/profile`)
  await page.fill('#password-current', secrets[0]!)
  await page.fill('#field-password', secrets[1]!)
  await page.click('#password-form button[type=submit]')
  await page.getByText('Password changed').waitFor()
  for (const secret of secrets)
    expect(addresses.map(decodeURIComponent).join('\n')).not.toContain(secret)
  await context.close()
})

test('without script, what was typed is there after a refusal', async () => {
  const t = testApp()
  const { user } = t.logIn('ada@example.com')
  const { origin: url } = listening(t).url
  const { page: first } = await openPage(url)
  const context = await first.context().browser()!.newContext({ javaScriptEnabled: false })
  await context.addCookies([{ name: 'svc_session', value: aSession(t, user.id), url }])
  const page = await context.newPage()
  await page.goto(`${url}/projects/new`)
  await page.fill('[name=name]', 'site')
  await page.fill('[name=repository_url]', 'ext::sh -c id')
  await page.getByRole('button', { name: 'Create project', exact: true }).click()
  await page.locator('.field-error').waitFor()
  expect(await page.inputValue('[name=name]')).toBe('site')
  expect(await page.inputValue('[name=repository_url]')).toBe('ext::sh -c id')
  await context.close()
})

test('what is refused has the focus and is in view, however far from the button', async () => {
  const t = testApp()
  const ada = t.logIn('ada@example.com')
  const repositoryUrl = 'https://git.example.com/team/site.git'
  const { json } = await ada.post('/projects', { name: 'site', repositoryUrl })
  const { json: envs } = await ada.get(`/projects/${json.id}/envs`)
  const { page } = await openAs(t, ada.user)
  await page.setViewportSize({ width: 390, height: 700 })
  const forms = [
    [`/projects/${json.id}/envs/${envs.items[0].id}/edit`, 'name', 'Not a name', 'Save settings'],
    ['/projects/new?from=address', 'compose_file', '../elsewhere', 'Create project'],
  ] as const
  for (const [path, name, value, button] of forms) {
    await page.goto(path)
    await page.fill(`[name=${name}]`, value)
    if (path.includes('new')) await page.fill('[name=repository_url]', repositoryUrl)
    await page.getByRole('button', { name: button }).click()
    const wrong = page.locator('[aria-invalid=true]:focus')
    await wrong.waitFor()
    expect(await wrong.getAttribute('name')).toBe(name)
    const { y, height } = (await wrong.boundingBox())!
    expect(y, path).toBeGreaterThan(60) // below the bar
    expect(y + height, path).toBeLessThan(640)
  }
})

test('a secret that was corrected after a refusal stays so when something else is refused', async () => {
  const t = testApp()
  const { page } = await openAs(t, t.logIn('ada@example.com').user)
  await page.goto('/services/postgresql/configure')
  const password = page.locator('[name=POSTGRES_PASSWORD]')
  await page.fill('[name=POSTGRES_USER]', 'Not Good')
  await page.getByText('Generated').click()
  await password.fill('mistyped')
  await page.getByRole('button', { name: 'Create and start' }).click()
  await page.locator('#field-POSTGRES_USER-error').waitFor()
  await until(async () => (await password.inputValue()) === 'mistyped')
  expect(await page.locator('#field-POSTGRES_PASSWORD-error').count()).toBe(0)
  await password.fill('corrected')
  await page.evaluate(
    "htmx.ajax('GET', '/services/none/configure', { target: '#modal', swap: 'innerHTML' })",
  )
  await page.locator('dialog[open]').waitFor({ state: 'attached' })
  expect(await password.inputValue()).toBe('corrected')
})
