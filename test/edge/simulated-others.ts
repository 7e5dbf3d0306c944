import { afterAll } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Edge } from '../../src/edge/edge.ts'
import type { OtherEngine } from '../../src/edge/other-engine.ts'
import { OtherEdges } from '../../src/edge/other-edges.ts'
import type { OtherEdgesDeps } from '../../src/edge/other-edges.ts'
import type { Caddy, Host, Plan } from '../../src/edge/plan.ts'
import { Failure } from '../../src/platform/errors.ts'
import { unlessAborted } from '../../src/platform/pause.ts'
import { aHost } from './caddy.ts'

export const over = new AbortController()
const places: string[] = []
afterAll(() => {
  over.abort()
  for (const place of places) rmSync(place, { recursive: true, force: true })
})

const away = new Failure('engine_unreachable', 'Away.', 'Wait.')

/** An engine of another server that only remembers, and what its Caddy would have. */
function anEngine() {
  const there = {
    isAway: false,
    made: 0,
    id: null as string | null,
    files: new Map<string, string>(),
    writes: [] as string[],
    loads: [] as Plan[],
    refusal: null as Failure | null,
    volumes: new Set<string>(),
    /** A call that doesn’t end before this does, or its signal aborts. */
    hangs: null as Promise<unknown> | null,
    calls: [] as string[],
  }
  const ask = async (call: string, { signal }: { signal: AbortSignal }) => {
    there.calls.push(call)
    if (there.isAway) throw away
    if (there.hangs) await unlessAborted(there.hangs, signal)
  }
  const engine: OtherEngine = {
    async find(options) {
      await ask('find', options)
      return there.id
    },
    async prepare() {},
    async ensure(options) {
      await ask('ensure', options)
      there.volumes.add('keys')
      return (there.id ??= `made ${++there.made}`)
    },
    async put(_, { path, files, signal }) {
      await ask('put', { signal })
      for (const file of files) there.files.set(join(path, file.path), String(file.content))
      there.writes.push(...new Set(files.map((file) => file.path.replace(/\/\d+$/, ''))))
    },
    async sweep(_, { paths, signal }) {
      await ask('sweep', { signal })
      for (const file of there.files.keys())
        if (paths.some((path) => file.startsWith(`${path}/`))) there.files.delete(file)
    },
    async load(_, { path, signal }) {
      await ask('load', { signal })
      if (there.refusal) throw there.refusal
      there.loads.push(JSON.parse(there.files.get(path)!))
    },
    async *lines(_, { signal }) {
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
      yield []
    },
    async remove(options) {
      await ask('remove', options)
      if (there.refusal) throw there.refusal
      there.id = null
      there.files.clear()
      there.volumes.clear()
    },
  }
  return Object.assign(there, {
    engine,
    slot: (key: string) => there.files.get(`/edge/slots/${key}/0`) ?? null,
  })
}

/** Davit’s edge, with one other server’s. */
export function anInstallation({
  hosts = [aHost('app.test')],
  ...more
}: { hosts?: Host[] } & Partial<OtherEdgesDeps> = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'davit-edge-'))
  places.push(folder)
  const there = anEngine()
  const server = { id: 'two', name: 'two', isServing: false }
  const servers = [server]
  const issued = new Map<string, number>()
  const plans: Plan[] = []
  const caddy: Caddy = {
    ...{
      mode: 'caddy',
      folder: '/edge',
      ports: { http: 80, https: 443 },
      davit: 'unix//edge/davit.sock',
    },
    version: null,
    doubt() {},
    async start() {},
    async serve(plan) {
      plans.push(plan)
      return { state: 'in force', loadedAt: null, rejected: [] }
    },
    async stop() {},
  }
  const others = new OtherEdges({
    ...{ folder, home: () => '10.0.0.1:80', quietTime: 0, ...more },
    list: () => servers.map((one) => ({ ...one })),
    engineOf: () => there.engine,
    issued: () => new Map(issued),
    readCertificates: async () =>
      new Map(
        [...issued.keys()].map((host) => [host, { crt: Buffer.from('c'), key: Buffer.from('k') }]),
      ),
  })
  const wanted = { hosts }
  const edge: Edge = new Edge({
    ...{ folder, caddy, isOptional: true },
    others: async () => others,
    plan: () => ({ ...wanted, listeners: [], authority: null }),
    fill() {
      edge.route('app', ['172.18.0.2:80'], ['10.0.0.1:20000'])
      edge.route('service', ['172.18.0.3:80'])
      edge.route('stopped', 'stopped')
    },
  })
  void edge.run({ signal: over.signal })
  const look = async () => {
    await edge.sync()
    await others.settled({ signal: over.signal })
  }
  const loaded = () => JSON.stringify(there.loads.at(-1))
  return { ...{ edge, others, there, server, servers, issued, plans, wanted, look, loaded } }
}
