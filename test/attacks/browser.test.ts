import { expect, onTestFinished, test } from 'bun:test'
import { insertSession } from '../../src/accounts/store.ts'
import { hashToken, randomToken } from '../../src/secrets.ts'
import { testApp } from '../support/app.ts'
import { openPage } from '../support/browser.ts'
import { namedEverywhere } from './names-everywhere.ts'
import { addressOf, anAdmin } from './walk.ts'

const markup = `'"></title></textarea></script><img src=x onerror=alert(1)><script>alert(1)</script>`

/** Those that scripts of ours read, or that bring parts of themselves later. */
const pages = [
  '/dashboard',
  '/projects/:id',
  '/projects/:id/deployments/:deploymentId',
  '/projects/:id/envs/:envId/output',
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
  const ada = anAdmin(t)
  const ids = await namedEverywhere(t, ada, markup)
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 0,
    fetch: (request, server) => t.app.fetch(request, { server }),
  })
  onTestFinished(() => server.stop(true))
  const { page, complaints } = await openPage(server.url.origin)
  const session = randomToken()
  insertSession(t.db, {
    userId: ada.user.id,
    tokenHash: hashToken(session),
    userAgent: 'a browser',
    address: '127.0.0.1',
    lastSeenAt: new Date(),
    expiresAt: new Date(Date.now() + 3_600_000),
  })
  await page.context().addCookies([{ name: 'svc_session', value: session, url: server.url.origin }])
  const events: string[] = []
  page.on('dialog', (dialog) => {
    events.push(`dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
  page.on('request', (request) => {
    const { origin, pathname } = new URL(request.url())
    if (origin !== server.url.origin || pathname.endsWith('/x')) events.push(request.url())
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
