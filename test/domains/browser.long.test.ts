import { expect, onTestFinished, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Locator } from 'playwright-core'
import { edgeApp } from '../deployments/edge-app.ts'
import { anAuthority } from '../edge/pebble.ts'
import { openPage, register } from '../support/browser.ts'
import { aNameServer } from '../support/name-server.ts'
import { loopback } from '../support/tls.ts'

const here = '127.0.0.1'

/** Davit with the real Caddy, its own DNS and authority, and a browser in front of it. */
async function aSite() {
  const names = await aNameServer({})
  const directory = mkdtempSync(join(tmpdir(), 'davit-domains-'))
  const root = join(directory, 'root.pem')
  await Bun.write(root, loopback.cert)
  let http = 0
  const outside = Bun.serve({
    ...{ port: 0, hostname: here },
    fetch: ({ url, headers }) =>
      fetch(`http://${here}:${http}${new URL(url).pathname}`, { headers }),
  })
  const pebble = await anAuthority({ http: outside.port!, nameServer: names.address })
  const t = await edgeApp({
    nameServers: [names.address],
    config: {
      publicAddresses: [here],
      acme: { email: null, directory: pebble.directory, root },
    },
  })
  http = t.config.edgePorts.http
  const over = new AbortController()
  const keeping = t.certificates.run({ signal: over.signal })
  const server = Bun.serve({
    ...{ port: 0, hostname: here, idleTimeout: 0 },
    fetch: (request, server) => t.app.fetch(request, { server }),
  })
  onTestFinished(async () => {
    over.abort()
    await keeping
    names.stop()
    await Promise.all([server, outside].map((one) => one.stop(true)))
    rmSync(directory, { recursive: true })
  })
  return { ...(await openPage(`http://${here}:${server.port}`)), zone: names.zone, t }
}

test('a domain is added by keyboard, its DNS fixed, its certificate seen, and it is deleted', async () => {
  const { page, complaints, zone, t } = await aSite()
  await register(page)
  await page.goto('/projects/new')
  await page.fill('[name=name]', 'shop')
  await page.fill('[name=repository_url]', 'https://git.example.com/team/shop.git')
  await page.getByRole('button', { name: 'Create project', exact: true }).click()
  await page.waitForURL(/projects\/[0-9a-f-]{36}/)
  await page.goto(`${new URL(page.url()).pathname}/envs`)
  await page.getByRole('link', { name: 'production', exact: true }).click()
  await page.getByRole('link', { name: 'Domains', exact: true }).click()
  await page.getByText('No domain yet').waitFor()

  const dialog = page.locator('dialog[open]')
  /** Until the page that it leads to is there: a change may be seen before, and a dialog would be lost. */
  const act = async (button: Locator) => {
    const loaded = page.waitForEvent('load')
    await button.press('Enter')
    await loaded
  }
  await page.getByRole('link', { name: 'Add domain' }).first().press('Enter')
  await dialog.getByLabel('Domain').fill('http://Shop.TEST')
  await dialog.getByLabel('Domain').press('Enter')
  await dialog.getByText('must be only a name').waitFor()
  expect(await page.evaluate<string>('document.activeElement.name')).toBe('host')
  await dialog.getByLabel('Domain').fill('Shop.TEST')
  await dialog.getByLabel('Domain').press('Enter')

  const row = (name: string) => page.locator('.domain-row', { hasText: name }).first()
  const shop = row('shop.test')
  await shop.getByText('Waiting for DNS').waitFor() // the list follows by itself
  expect(await shop.locator('.dns-records').innerText()).toMatch(/A\s+shop.test\s+→\s+127.0.0.1/)

  zone['shop.test'] = ['192.5.5.241']
  await act(shop.getByRole('button', { name: 'Check shop.test now' }))
  await shop.getByText('shop.test points to 192.5.5.241 instead of 127.0.0.1.').waitFor()
  await shop.getByText('Wrong DNS').waitFor()

  zone['shop.test'] = [here]
  await act(shop.getByRole('button', { name: 'Check shop.test now' }))
  await shop.getByText('Ready').waitFor()
  await shop.getByText('HTTPS by Pebble').waitFor()
  const { http, https } = t.config.edgePorts
  const link = shop.locator('.app-link')
  expect(await link.getAttribute('href')).toBe(`https://shop.test:${https}`)
  expect((await fetch(`http://${here}:${http}/`, of('shop.test'))).status).toBe(308)

  await act(shop.getByRole('button', { name: 'Start maintenance of shop.test' }))
  await shop.getByText('Maintenance', { exact: true }).waitFor()
  await act(shop.getByRole('button', { name: 'End maintenance of shop.test' }))
  await shop.getByText('Ready').waitFor()

  await act(shop.getByRole('button', { name: 'Redirect www.shop.test here' }))
  await row('www.shop.test').getByText(`redirects to https://shop.test:${https}`).waitFor()

  for (const name of ['www.shop.test', 'shop.test']) {
    await page.getByRole('button', { name: `Delete ${name}`, exact: true }).press('Enter')
    await act(dialog.getByRole('button', { name: 'Delete domain' }))
    await page.getByRole('button', { name: `Delete ${name}`, exact: true }).waitFor({
      state: 'detached',
    })
  }
  await page.getByText('No domain yet').waitFor()
  expect((await fetch(`http://${here}:${http}/`, of('shop.test'))).status).toBe(404)
  expect(complaints).toEqual([])
}, 180_000)

const of = (host: string) =>
  ({ headers: { Host: host }, redirect: 'manual', keepalive: false }) as const
