import { afterAll, expect } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connectDocker, Engines } from '../../src/docker/index.ts'
import { OtherEdges } from '../../src/edge/other-edges.ts'
import type { OtherEdgesDeps } from '../../src/edge/other-edges.ts'
import type { Host, Plan } from '../../src/edge/plan.ts'
import { onEngines } from '../../src/runtime/on-engine.ts'
import { otherEdgeEngine } from '../../src/runtime/other-edge-engine.ts'
import { freePort } from '../support/free-port.ts'
import { ensureEdgeImages } from '../support/machine.ts'
import { removeFromEngine } from '../support/remove-from-engine.ts'
import { until } from '../support/until.ts'

export const { signal } = new AbortController()

/** An app of the test's own, and its address. */
export function anApp(fetch: (request: Request) => Response | Promise<Response>) {
  const server = Bun.serve({ port: 0, hostname: '127.0.0.1', idleTimeout: 0, fetch })
  afterAll(() => server.stop(true))
  return `127.0.0.1:${server.port}`
}

/** The edge of another server, which is this machine’s engine; Davit’s own is an app that says what it is sent. */
export async function anOther(
  options: Partial<OtherEdgesDeps> = {},
  ports = { http: freePort(), https: freePort() },
) {
  await ensureEdgeImages({ say: console.error })
  const docker = connectDocker({ host: process.env.DOCKER_HOST })
  const instanceId = Bun.randomUUIDv7()
  const labels = [`davit.instance=${instanceId}`]
  const folder = mkdtempSync(join(tmpdir(), 'davit-edge-'))
  afterAll(async () => {
    await removeFromEngine(docker, labels)
    rmSync(folder, { recursive: true })
  })
  const home = anApp(({ headers, url }) => Response.json({ url, ...headers.toJSON() }))
  const server = { id: docker.serverId, name: 'two', isServing: true }
  const issued = new Map<string, number>()
  const deps = { ...onEngines(new Engines([docker])), instanceId }
  const others = new OtherEdges({
    ...{ folder, home: () => home, quietTime: 2000 },
    list: () => [{ ...server }],
    engineOf: (serverId) => otherEdgeEngine(deps, serverId),
    issued: () => new Map(issued),
    readCertificates: async () => new Map(),
    ...options,
  })
  const serve = async (hosts: Host[], more: Partial<Plan> = {}) => {
    others.look({ mayServe: true })
    const none = { listeners: [], authority: null, folder: '/edge', ports }
    others.serve({ ...none, hosts, ...others.tokens, ...more }, { signal })
    const isThere = async (name: string) => (await get(name).catch(() => null))?.ok === true
    for (const { name } of hosts) await until(() => isThere(name))
    expect(others.troubles()).toEqual([])
  }
  const get = (host: string, path = '/', init: RequestInit = {}) =>
    fetch(`http://127.0.0.1:${ports.http}${path}`, {
      ...init,
      redirect: 'manual',
      headers: { ...(init.headers as Record<string, string>), Host: host },
    })
  const containers = () => docker.listContainers({ labels, all: true })
  return { docker, labels, server, others, serve, get, ports, issued, containers }
}

export const hostOf = (name: string, key = name.replaceAll('.', '-')): Host => ({
  name,
  https: { kind: 'off' },
  sites: [{ path: '/', target: { slots: key } }],
})
