import { afterAll } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CertificateKeeper } from '../../src/domains/certificate-keeper.ts'
import { findCertificate } from '../../src/domains/certificate-store.ts'
import { connectDocker } from '../../src/docker/index.ts'
import { autoHttps } from '../../src/addresses/plan.ts'
import { Edge } from '../../src/edge/edge.ts'
import { ownCaddy } from '../../src/edge/own.ts'
import { setSlots } from '../../src/edge/slots.ts'
import { edgeEngine } from '../../src/runtime/edge-container.ts'
import { newDatabases } from '../support/databases.ts'
import { ensureEdgeImages } from '../support/machine.ts'
import { aNameServer } from '../support/name-server.ts'
import { removeFromEngine } from '../support/remove-from-engine.ts'
import { loopback } from '../support/tls.ts'
import { until } from '../support/until.ts'
import { freePort } from '../support/free-port.ts'
import { anAuthority } from '../edge/pebble.ts'

/** This machine, as everyone's names have it. */
export const here = '127.0.0.1'

/**
 * A small internet: names, an authority that proves them, and the way from it to this server; and the
 * part of Davit that keeps certificates, with the real Caddy. Each can be made to fail.
 */
export async function anInternet({
  validity,
  blocked,
}: { validity?: number; blocked?: string[] } = {}) {
  await ensureEdgeImages({ say: console.error })
  const names = await aNameServer({})
  const ports = { http: freePort(), https: freePort() }

  /** Port 80 of this server, as the authority reaches it. */
  let front: 'pass' | 'not found' = 'pass'
  const outside = Bun.serve({
    ...{ port: 0, hostname: here },
    fetch(request) {
      if (front === 'not found') return new Response('Not here', { status: 404 })
      const { pathname } = new URL(request.url)
      return fetch(`http://${here}:${ports.http}${pathname}`, { headers: request.headers })
    },
  })
  const pebble = await anAuthority({
    http: outside.port!,
    nameServer: names.address,
    ...(validity && { validity }),
    ...(blocked && { blocked }),
  })

  /** In front of the authority: what it was asked for, and a way to have it refuse or wait. */
  const orders: string[] = []
  let limit: string | null = null
  let gate = Promise.withResolvers<void>()
  gate.resolve()
  const proxy = Bun.serve({
    ...{ port: 0, hostname: here, idleTimeout: 120 },
    tls: { cert: loopback.cert, key: loopback.key },
    async fetch(request) {
      const { pathname } = new URL(request.url)
      const body = await request.arrayBuffer()
      if (pathname === '/order-plz') {
        orders.push(...namesIn(body))
        if (limit) return refuse(limit)
        await gate.promise
      }
      const target = new URL(pebble.directory)
      target.pathname = pathname
      const tls = { ca: loopback.cert }
      const { method, headers } = request
      const init = { method, headers, tls, ...(method === 'POST' && { body }) }
      return fetch(target, init).catch(() => new Response('', { status: 502 }))
    },
  })

  const instanceId = Bun.randomUUIDv7()
  const folder = mkdtempSync(join(tmpdir(), 'davit-edge-'))
  const root = join(folder, 'root.pem')
  await Bun.write(root, loopback.cert)
  const docker = connectDocker({ host: process.env.DOCKER_HOST })
  const { db } = newDatabases()
  const engine = edgeEngine({ docker, instanceId })
  const authority = { email: null, directory: `https://${here}:${proxy.port}/dir`, root }
  const served = new Set<string>()
  const hosts = () =>
    [...served].map((name) => ({
      name,
      https: autoHttps(findCertificate(db, name)?.status),
      sites: [{ path: '/', target: { slots: 'app' } }],
    }))
  const edge = new Edge({
    ...{ folder, isOptional: false, fill() {} },
    caddy: ownCaddy({ folder, ports, engine }),
    plan: () => ({ hosts: hosts(), listeners: [], authority }),
  })
  const app = Bun.serve({ port: 0, hostname: here, fetch: () => new Response('app') })
  const over = new AbortController()
  const running = edge.run({ signal: over.signal })
  await edge.ready(over)
  setSlots(folder, 'app', [`${here}:${app.port}`])

  const config = {
    acme: authority,
    ...{ domain: null, url: null, edgePorts: ports, publicAddresses: [here] },
  }
  const given = { config, db, docker, edge, instanceId, nameServers: [names.address], hosts }
  let davit = start()
  function start() {
    const stop = new AbortController()
    const keeper = new CertificateKeeper(given)
    return { keeper, stop, running: keeper.run({ signal: stop.signal }) }
  }
  async function stop() {
    davit.stop.abort()
    await davit.running
  }
  afterAll(async () => {
    await stop()
    over.abort()
    await running
    await removeFromEngine(docker, [`davit.instance=${instanceId}`])
    names.stop()
    await Promise.all([outside, proxy, app].map((server) => server.stop(true)))
    rmSync(folder, { recursive: true })
  })
  const { signal } = over

  return {
    ...{ authority, authorityName: `${here}:${proxy.port}`, db, docker, edge, folder },
    ...{ instanceId, orders, ports, signal },
    zone: names.zone,
    get keeper() {
      return davit.keeper
    },
    /** Hosts that a user has added. */
    add(...hosts: string[]) {
      for (const host of hosts) served.add(host)
      void edge.sync()
      davit.keeper.look(hosts)
    },
    state: (host: string) => findCertificate(db, host),
    /** Waits until it is known of a host. */
    becomes: (host: string, status: string, seconds = 60) =>
      until(() => findCertificate(db, host)?.status === status, seconds),
    setFront: (to: typeof front) => (front = to),
    /** The authority refuses orders, with this detail; null: no more. */
    setLimit: (to: string | null) => (limit = to),
    /** Orders wait until the result is called. */
    holdOrders() {
      gate = Promise.withResolvers()
      return gate.resolve
    },
    async restart({ between = () => {} } = {}) {
      await stop()
      between()
      davit = start()
    },
    get: (address: string) => {
      const { host, protocol, pathname } = new URL(address)
      const port = protocol === 'https:' ? ports.https : ports.http
      return fetch(`${protocol}//${here}:${port}${pathname}`, {
        redirect: 'manual',
        keepalive: false,
        headers: { Host: host },
        ...(protocol === 'https:' && { tls: { serverName: host, rejectUnauthorized: false } }),
      })
    },
  }
}

/** The names in an order, which is a signed message. */
function namesIn(body: ArrayBuffer): string[] {
  const { payload } = JSON.parse(Buffer.from(body).toString())
  const { identifiers } = JSON.parse(Buffer.from(payload, 'base64url').toString())
  return identifiers.map(({ value }: { value: string }) => value)
}

const refuse = (detail: string) =>
  Response.json(
    { type: 'urn:ietf:params:acme:error:rateLimited', detail, status: 429 },
    {
      status: 429,
      headers: {
        'Content-Type': 'application/problem+json',
        'Replay-Nonce': Buffer.from(Bun.randomUUIDv7()).toString('base64url'),
        'Retry-After': '3600',
      },
    },
  )
