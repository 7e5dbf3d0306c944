import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { noAddress } from '../../src/domains/dns-check.ts'
import { anEnvironment } from '../logs/collecting.ts'
import { testApp } from '../support/app.ts'
import { ensureEdgeImages } from '../support/machine.ts'
import { aNameServer } from '../support/name-server.ts'
import { until } from '../support/until.ts'
import { freePort } from '../support/free-port.ts'
import { anAuthority } from '../edge/pebble.ts'
import { here } from './internet.ts'

test('a domain that a user adds has HTTPS by itself, and says what is missing until then', async () => {
  await ensureEdgeImages({ say: console.error })
  const names = await aNameServer({ 'davit.test': [here] })
  const ports = { http: freePort(), https: freePort() }
  const pebble = await anAuthority({ http: ports.http, nameServer: names.address })
  const directory = mkdtempSync(join(tmpdir(), 'davit-acme-'))
  const root = join(directory, 'root.pem')
  await Bun.write(root, pebble.root)
  const settings = {
    DAVIT_EDGE: 'caddy',
    DAVIT_EDGE_PORTS: `${ports.http},${ports.https}`,
    DAVIT_ACME_URL: pebble.directory,
    DAVIT_ACME_CA: root,
    DAVIT_PUBLIC_ADDRESS: here,
    DAVIT_DOMAIN: 'davit.test',
  }
  const t = testApp(settings, { jobsWait: true, nameServers: [names.address] })
  const over = new AbortController()
  const running = [t.deps.edge.run(over), t.deps.certificates.run(over)]
  try {
    await t.deps.edge.ready(over)
    const ada = t.logIn('ada@example.com')
    const { id } = await anEnvironment(t, ada)
    const added = await ada.post(`/envs/${id}/domains`, { host: 'shop.test' })
    const domain = async () => (await ada.get(`/domains/${added.json.id}`)).json
    await until(async () => (await domain()).certificate?.error)
    expect(await domain()).toMatchObject({
      url: `http://shop.test:${ports.http}`,
      dns: { expected: [here], found: [], ok: false },
      certificate: {
        status: 'waiting',
        error: {
          message: noAddress('shop.test'),
          hint: `Add an A record with the value ${here} at your DNS provider.`,
        },
      },
    })

    names.zone['shop.test'] = [here]
    const checked = await ada.post(`/domains/${added.json.id}/check`)
    expect(checked.json.dns).toMatchObject({ found: [here], ok: true })
    await until(async () => (await domain()).certificate.status === 'issued', 120)
    expect(await domain()).toMatchObject({
      url: `https://shop.test:${ports.https}`,
      certificate: { issuer: expect.stringContaining('Pebble'), error: null },
    })

    const ca = await pebble.ca()
    for (const host of ['shop.test', 'davit.test']) {
      const headers = { Host: `${host}:${ports.https}` }
      const get = (scheme: 'http' | 'https') =>
        fetch(`${scheme}://${here}:${ports[scheme]}/x`, {
          ...{ headers, redirect: 'manual', keepalive: false },
          ...(scheme === 'https' && { tls: { ca, serverName: host } }),
        })
      await until(async () => (await get('http')).status === 308, 60)
      expect((await get('https')).status).toBeGreaterThanOrEqual(400) // nothing is deployed
    }
  } finally {
    over.abort()
    await Promise.all(running)
    names.stop()
    rmSync(directory, { recursive: true })
  }
})
