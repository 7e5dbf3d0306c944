import { expect, test } from 'bun:test'
import { testApp } from '../support/app.ts'
import { namedEverywhere } from './names-everywhere.ts'
import { addressOf } from './walk.ts'
import { openAs } from '../support/browser.ts'

const markup = `'"></title></textarea></script><img src=x onerror=alert(1)><script>alert(1)</script>`

/** Those that scripts of ours read, or that bring parts of themselves later. */
const pages = [
  '/dashboard',
  '/map',
  '/projects/:id',
  '/projects/:id/deployments/:deploymentId',
  '/projects/:id/envs/:envId/output',
  '/projects/:id/envs/:envId/deployments',
  '/projects/:id/envs/:envId/metrics',
  '/projects/:id/deliveries',
  '/envs/:envId/variables',
  '/containers',
  '/containers/:id',
  '/services/:id',
  '/settings/audit',
  '/settings/users',
]

test('in a real browser no name runs, asks or loads anything', async () => {
  const t = testApp()
  const ada = t.logInAsAdmin('ada@example.com')
  const ids = await namedEverywhere(t, ada, markup)
  const { page, complaints, url } = await openAs(t, ada.user)
  const events: string[] = []
  page.on('dialog', (dialog) => {
    events.push(`dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
  page.on('request', (request) => {
    const { origin, pathname } = new URL(request.url())
    if (origin !== url || pathname.endsWith('/x')) events.push(request.url())
  })
  for (const path of pages) {
    await page.goto(addressOf({ method: 'GET', path, route: path }, ids))
    const text = page.getByText('<img src=x onerror=alert(1)>').first()
    await text.waitFor({ state: 'attached' })
  }
  await page.goto(`/services/${ids.service}`)
  await page.click('text=Delete…')
  await page.locator('dialog[open]').getByText('<img src=x').first().waitFor()
  expect(events).toEqual([])
  expect(complaints).toEqual([])
})
