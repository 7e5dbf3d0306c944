import { createHmac, randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { writeFileAtomically } from '../platform/atomic-write.ts'
import type { Failure } from '../platform/errors.ts'
import { unlessAborted } from '../platform/pause.ts'
import { folderInside } from './container.ts'
import { homeSlot } from './elsewhere.ts'
import { OtherEdge } from './other-edge.ts'
import type { OtherPlan } from './other-edge.ts'
import type { CertificateFiles, OtherEngine } from './other-engine.ts'
import { davitKey } from './plan.ts'
import type { Plan } from './plan.ts'
import type { Addresses } from './shares.ts'

export type OtherServer = {
  id: string
  name: string
  /** False for one that has no edge, or whose visitors are to leave it. */
  isServing: boolean
}

/** `outdated` is one that doesn't have what it should, `leaving` one that visitors are to leave. */
export type EdgeState = 'off' | 'starting' | 'serving' | 'outdated' | 'leaving'

export type OtherEdgesDeps = {
  /** All servers but Davit's own. */
  list: () => OtherServer[]
  engineOf: (serverId: string) => OtherEngine
  /** Where they reach Davit's own edge; null when they don't. */
  home: () => string | null
  /** Of Davit's own edge, as Davit sees it. */
  folder: string
  /** When the certificate of each host ends that Davit's own edge has. */
  issued: () => ReadonlyMap<string, number>
  readCertificates: (options: { signal: AbortSignal }) => Promise<Map<string, CertificateFiles>>
  quietTime?: number
  callTime?: number
}

/** Milliseconds. */
const usualQuietTime = 60_000
const settleTime = 10_000

/** Lines that are kept until they are counted. */
const maxLines = 100_000

/** The edges of the other servers: what Davit's own serves, they serve too. */
export class OtherEdges {
  readonly #given: OtherEdgesDeps
  readonly #edges = new Map<string, { server: OtherServer; edge: OtherEdge }>()
  readonly #slots = new Map<string, Addresses>()
  #plan: OtherPlan | null = null
  #secret: string | undefined
  #issued: ReadonlyMap<string, number> = new Map()
  #signal: AbortSignal | null = null
  #lines = new Map<string, string[]>()
  /** Of servers that are about to be removed. */
  readonly #ended = new Set<string>()
  /** True while another server has an edge, also one that visitors are to leave. */
  isOn = false

  constructor(given: OtherEdgesDeps) {
    this.#given = given
  }

  /** Reads which servers have one. Returns true when there is a first one. */
  look({ mayServe }: { mayServe: boolean }) {
    const servers = this.#given.list().filter(({ id }) => !this.#ended.has(id))
    const wasOn = this.isOn
    const hasEdge = ({ id, isServing }: OtherServer) =>
      isServing || this.#edges.get(id)?.edge.isThere === true
    this.isOn = mayServe && servers.some(hasEdge) && this.#given.home() !== null
    for (const server of servers) {
      const known = this.#edges.get(server.id)
      if (known) known.server = server
      else this.#add(server)
    }
    for (const id of this.#edges.keys())
      if (!servers.some((server) => server.id === id)) this.#edges.delete(id)
    if (!this.isOn) this.#slots.clear()
    return this.isOn && !wasOn
  }

  #add(server: OtherServer) {
    const { engineOf, readCertificates, quietTime = usualQuietTime, callTime } = this.#given
    const edge: OtherEdge = new OtherEdge({
      ...{ name: server.name, readCertificates, quietTime },
      ...(callTime !== undefined && { callTime }),
      engine: engineOf(server.id),
      wanted: () => ({
        plan: this.#planFor(server.id),
        isServing: this.#edges.get(server.id)?.server.isServing ?? false,
        ...{ slots: this.#slots, issued: this.#issued },
      }),
      count: (lines) => this.#count(server.id, lines),
    })
    this.#edges.set(server.id, { server, edge })
  }

  /** What Davit's own edge has to know of them, for its configuration. */
  get tokens() {
    if (!this.isOn) return {}
    return { tokens: [...this.#edges.keys()].map((id) => this.#tokenOf(id)) }
  }

  /** Each has its own, so that one that was removed is believed no more. */
  #tokenOf(serverId: string) {
    this.#secret ??= readSecret(this.#given.folder)
    return createHmac('sha256', this.#secret).update(serverId).digest('hex')
  }

  /** Serves what Davit's own edge serves; nothing with null. */
  serve(plan: Plan | null, { signal }: { signal: AbortSignal }) {
    if (this.#edges.size === 0) return
    this.#signal = signal
    this.#plan = plan && this.#planOf(plan)
    this.#issued = this.#plan ? this.#given.issued() : new Map()
    this.#wake()
  }

  /** Ports without a name are those of Davit's own server. */
  #planOf({ tokens, ...plan }: Plan): OtherPlan | null {
    const address = this.#given.home()
    if (!tokens || !address) return this.#plan // visitors are to leave them first
    this.#slots.set(davitKey, [homeSlot(folderInside)])
    return { ...plan, home: { token: '', address, certified: {} }, listeners: [] }
  }

  #planFor(serverId: string): OtherPlan | null {
    const plan = this.#plan
    return plan && { ...plan, home: { ...plan.home, token: this.#tokenOf(serverId) } }
  }

  /** Where they find a key: at these addresses, or by Davit's own edge. */
  route(key: string, addresses: Addresses | null) {
    if (!this.isOn) return
    this.#slots.set(key, addresses ?? [homeSlot(folderInside)])
    this.#wake()
  }

  forget(key: string) {
    if (this.#slots.delete(key)) this.#wake()
  }

  keep(keys: ReadonlySet<string>) {
    for (const key of this.#slots.keys())
      if (!keys.has(key) && key !== davitKey) this.#slots.delete(key)
    this.#wake()
  }

  /** Of all of them the containers may have changed. */
  doubt() {
    for (const { edge } of this.#edges.values()) edge.doubt()
  }

  /** Resolves once those that respond have the current slots. */
  async settled({ signal }: { signal: AbortSignal }) {
    if (!this.isOn) return
    const either = AbortSignal.any([signal, AbortSignal.timeout(settleTime)])
    await unlessAborted(Promise.all(this.#wake()), either).catch(() => signal.throwIfAborted())
  }

  /** Ends that of a server once its open requests have ended, and counts it as without one until disposal. */
  async end(serverId: string, { signal }: { signal: AbortSignal }): Promise<Disposable> {
    this.#ended.add(serverId)
    const known = this.#edges.get(serverId)
    this.#edges.delete(serverId)
    try {
      await known?.edge.close({ signal })
    } catch (error) {
      if (known) this.#edges.set(serverId, known)
      this.#ended.delete(serverId)
      throw error
    }
    return { [Symbol.dispose]: () => void this.#ended.delete(serverId) }
  }

  stateOf(serverId: string): { state: EdgeState; trouble: Failure | null } {
    const { server, edge } = this.#edges.get(serverId) ?? {}
    const isThere = edge?.isThere ?? false
    if (!isThere && !(server?.isServing && this.isOn)) return { state: 'off', trouble: null }
    const trouble = edge!.trouble
    if (!server!.isServing) return { state: 'leaving', trouble }
    return { state: trouble ? 'outdated' : isThere ? 'serving' : 'starting', trouble }
  }

  troubles() {
    return [...this.#edges].flatMap(([id, { server }]) => {
      const { trouble } = this.stateOf(id)
      return trouble ? { message: `${server.name}: ${trouble.message}`, hint: trouble.hint } : []
    })
  }

  /** The lines of requests since the last call, by server. */
  takeLines() {
    const lines = this.#lines
    this.#lines = new Map()
    return lines
  }

  #count(serverId: string, lines: string[]) {
    const known = this.#lines.get(serverId) ?? []
    if (known.length + lines.length > maxLines) return
    this.#lines.set(serverId, [...known, ...lines])
  }

  #wake() {
    const signal = this.#signal
    return signal ? [...this.#edges.values()].map(({ edge }) => edge.wake(signal)) : []
  }
}

function readSecret(folder: string) {
  const path = join(folder, 'token')
  if (!existsSync(path)) {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    writeFileAtomically(path, randomBytes(32).toString('hex'))
  }
  return readFileSync(path, 'utf8')
}
