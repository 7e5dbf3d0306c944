import { expect, test } from 'bun:test'
import { account, deleteProject, openBrowser } from '../support/browser.ts'

test('from the first start to a running sample app: two forms, two clicks', async () => {
  const begun = performance.now()
  const { page, complaints } = await openBrowser({ env: { DAVIT_ALLOW_LOCAL_REPOS: '0' } })
  let clicks = 0
  const press = async (name: string) => {
    clicks++
    await page.locator('main').getByRole('button', { name }).click()
  }
  await page.goto('/')
  await page.fill('[name=email]', account.email)
  await page.fill('[name=password]', account.password)
  await press('Create admin account')
  await page.waitForURL(/dashboard/)
  await press('Deploy sample app')
  await page.waitForURL(/deployments\//)
  const path = new URL(page.url()).pathname.replace(/\/deployments.*/, '')
  const link = page.locator('main .app-link').first()
  await link.waitFor({ timeout: 120_000 })
  const address = (await link.getAttribute('href'))!
  expect(await (await fetch(address)).text()).toContain('Hello from Davit')
  const seconds = Math.round((performance.now() - begun) / 1000)
  console.log(`first start to running sample app: ${clicks} clicks, ${seconds} s`)
  expect(clicks).toBe(2)

  await page.goto('/dashboard')
  await page.locator('.home-row', { hasText: 'Hello / production' }).getByText('Running').waitFor()
  await page.goto(path)
  await page.getByText('Davit’s sample app').waitFor()
  await deleteProject(page, path, 'Hello')
  expect(complaints).toEqual([])
}, 240_000)
