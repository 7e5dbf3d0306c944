import { afterAll } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connectDocker } from '../../src/docker/index.ts'
import { connectAdmin } from '../../src/edge/admin.ts'
import { apply, whenUp } from '../../src/edge/apply.ts'
import { configurationOf } from '../../src/edge/configuration.ts'
import { folderInside } from '../../src/edge/container.ts'
import { setCertificates, setHosts, setRedirects } from '../../src/edge/hosts.ts'
import type { Host, Plan, Site } from '../../src/edge/plan.ts'
import { makeFolder, setSlots } from '../../src/edge/slots.ts'
import { ensureEdgeContainer } from '../../src/runtime/edge-container.ts'
import { freePort } from '../support/free-port.ts'
import { ensureEdgeImages } from '../support/machine.ts'
import { removeFromEngine } from '../support/remove-from-engine.ts'

export const { signal } = new AbortController()

/** Configurations that may come one after the other while one asks. */
const mostResets = 5

/** The real Caddy in its container, for one test file; gone when the file ends. */
export async function anEdge() {
  await ensureEdgeImages({ say: console.error })
  const instanceId = Bun.randomUUIDv7()
  const folder = mkdtempSync(join(tmpdir(), 'davit-edge-'))
  makeFolder(folder)
  const docker = connectDocker({ host: process.env.DOCKER_HOST })
  const deps = { docker, instanceId }
  const servers: Bun.Server<unknown>[] = []
  afterAll(async () => {
    await removeFromEngine(docker, [`davit.instance=${instanceId}`])
    await Promise.all(servers.map((server) => server.stop(true)))
    rmSync(folder, { recursive: true })
  })
  const admin = connectAdmin({ socket: join(folder, 'admin.sock') })
  const ports = { http: freePort(), https: freePort() }
  const container = await ensureEdgeContainer(deps, { folder, signal })
  await whenUp({ admin }, { signal })

  return {
    ...{ admin, container, deps, folder, ports },

    /** Puts these hosts in force, and nothing else. */
    async serve(hosts: Host[], more: Partial<Plan> = {}) {
      const none = { listeners: [], authority: null, timesBodies: true }
      const plan = { folder: folderInside, ports, hosts, ...none, ...more }
      setHosts(folder, hosts, { folderInside })
      const isBusy = async () => false
      setCertificates(folder, hosts)
      await apply({ admin }, { configuration: configurationOf(plan) }, { signal, isBusy })
      setRedirects(folder, hosts)
    },

    /** Leads a host by its name alone, without a new configuration. */
    find: (...hosts: Host[]) => setHosts(folder, hosts, { folderInside }),

    /** An app of the test's own; its address is what a slot takes. */
    app(fetch: (request: Request) => Response | Promise<Response>) {
      const server = Bun.serve({ port: 0, hostname: '127.0.0.1', idleTimeout: 0, fetch })
      servers.push(server)
      return `127.0.0.1:${server.port}`
    },

    slots: (key: string, ...addresses: [string, ...string[]]) => setSlots(folder, key, addresses),

    /** A request for a host of the edge. */
    async get(address: string, init: RequestInit = {}) {
      const url = new URL(address)
      const secure = url.protocol === 'https:'
      const headers = new Headers(init.headers)
      if (!headers.has('Host')) headers.set('Host', url.host)
      const tls = { serverName: url.hostname, rejectUnauthorized: false }
      const place = `${url.protocol}//127.0.0.1:${secure ? ports.https : ports.http}`
      const ask = (left: number): Promise<Response> =>
        fetch(`${place}${url.pathname}${url.search}`, {
          redirect: 'manual',
          keepalive: false,
          ...init,
          headers,
          ...(secure && { tls }),
        }).catch((error) => {
          // who has just connected when Caddy closes the sockets of the configuration before is reset
          if (error.code !== 'ECONNRESET' || init.body || left === 0) throw error
          return ask(left - 1)
        })
      return ask(mostResets)
    },

    /** So many requests on one connection, none waiting for the response to the one before. */
    async sendAtOnce(host: string, path: string, count: number) {
      const { promise, resolve, reject } = Promise.withResolvers<void>()
      let left = Buffer.from(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\n\r\n`.repeat(count))
      let text = ''
      let responses = 0
      const send = (socket: Bun.Socket) => void (left = left.subarray(socket.write(left)))
      const socket = await Bun.connect({
        hostname: '127.0.0.1',
        port: ports.http,
        socket: {
          drain: send,
          data(_, data) {
            const parts = (text + data.toString('latin1')).split('HTTP/1.1 ')
            responses += parts.length - 1
            text = parts.at(-1)!.slice(-'HTTP/1.1'.length)
            if (responses === count) resolve()
          },
          close: () => reject(new Error('Caddy closed the connection')),
        },
      })
      send(socket)
      await promise
      socket.end()
    },
  }
}

export const aHost = (name: string, site: Partial<Site> = {}, host: Partial<Host> = {}): Host => ({
  name,
  https: { kind: 'off' },
  sites: [{ path: '/', target: { slots: 'app' }, ...site }],
  ...host,
})
