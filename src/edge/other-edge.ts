import { Failure } from '../platform/errors.ts'
import { journal, report } from '../platform/journal.ts'
import { unlessAborted } from '../platform/pause.ts'
import { configurationOf } from './configuration.ts'
import { certificatesInside, folderInside } from './container.ts'
import { certificateFile, healthFile } from './elsewhere.ts'
import { isEngineAway } from './mode.ts'
import { inTime, unanswered } from './other-engine.ts'
import type { Abortable, CertificateFiles, OtherEngine } from './other-engine.ts'
import { isUntimed } from './own.ts'
import { slotCount } from './plan.ts'
import type { Plan } from './plan.ts'
import type { Addresses } from './shares.ts'

export type OtherPlan = Plan & Required<Pick<Plan, 'home'>>

export type Wanted = {
  /** Null when no edge serves anything. */
  plan: OtherPlan | null
  /** False when visitors are to leave it. */
  isServing: boolean
  slots: ReadonlyMap<string, Addresses>
  /** When each host's certificate ends. */
  issued: ReadonlyMap<string, number>
}

type OtherEdgeDeps = {
  name: string
  engine: OtherEngine
  wanted: () => Wanted
  readCertificates: (options: Abortable) => Promise<Map<string, CertificateFiles>>
  count: (lines: string[]) => void
  /** Milliseconds without a request after which an edge that is left ends. */
  quietTime: number
  callTime?: number | undefined
}

/** Folders that Caddy doesn't make for its sockets. */
const folders = ['pages', 'places', 'config/caddy']

const nextFile = 'next.json'

/**
 * Keeps the Caddy of another server as Davit's own is: it has the slots in a volume of its own, where the engine
 * puts them. It goes on with what it has while Davit or its server is away.
 */
export class OtherEdge {
  readonly #given: OtherEdgeDeps
  readonly #engine: OtherEngine
  #id: string | null = null
  #isSure = false
  #isOver = false
  /** What its files contain, by path. */
  #put = new Map<string, string>()
  #certificates = new Map<string, number>()
  #loaded = ''
  #timesBodies = true
  #leftAt: number | null = null
  #lastRequest = 0
  #isDue = false
  #isClosing = false
  #work: Promise<void> | null = null
  trouble: Failure | null = null

  constructor(given: OtherEdgeDeps) {
    this.#given = given
    this.#engine = inTime(given.engine, given.callTime)
  }

  /** True while it has a container, as far as is known. */
  get isThere() {
    return this.#id !== null
  }

  /** Its container may have changed. */
  doubt() {
    this.#isSure = false
    this.#isOver = false
  }

  /** Resolves once it has what was wanted when this was called, or it is known why it doesn't. */
  wake(signal: AbortSignal): Promise<void> {
    this.#isDue = true
    return (this.#work ??= this.#run(signal))
  }

  async #run(signal: AbortSignal) {
    try {
      while (this.#isDue && !this.#isClosing && !signal.aborted) {
        this.#isDue = false
        await this.#putRight(signal)
      }
      this.#say(null)
    } catch (error) {
      this.#isSure = false
      if (!signal.aborted) this.#say(error)
    } finally {
      this.#work = null
    }
  }

  async #putRight(signal: AbortSignal) {
    const { plan, isServing } = this.#given.wanted()
    if (!isServing || !plan) {
      if (this.#isOver) return
      this.#id ??= await this.#engine.find({ signal })
      if (!plan || this.#id === null) return this.#end({ signal }) // parts of one may be left
    }
    const id = await this.#ensure(signal)
    await this.#putFiles(id, signal)
    await this.#putCertificates(id, signal)
    await this.#load(id, plan, signal)
    this.#leftAt = isServing ? null : (this.#leftAt ?? performance.now()) // since it says so
    const since = Math.max(this.#leftAt ?? Infinity, this.#lastRequest)
    if (performance.now() - since > this.#given.quietTime) await this.#end({ signal })
  }

  /**
   * Ends it once its open requests have ended, for good unless this throws. What its engine was asked before is
   * awaited: it could make it again.
   */
  async close({ signal }: Abortable) {
    this.#isClosing = true
    try {
      await unlessAborted(this.#work ?? Promise.resolve(), signal)
      await this.#end({ signal })
    } catch (error) {
      throw signal.aborted ? unanswered(error) : error
    } finally {
      this.#isClosing = false
    }
  }

  async #end({ signal }: Abortable) {
    this.#isSure = false // a failure may leave parts of it
    await this.#engine.remove({ signal })
    this.#id = null
    this.#isOver = true
  }

  async #ensure(signal: AbortSignal) {
    if (this.#id !== null && this.#isSure) return this.#id
    await this.#engine.prepare({ signal })
    const id = await this.#engine.ensure({ signal })
    if (id !== this.#id || this.#put.size === 0) {
      const made = new Map(folders.map((name) => [`${name}/.davit`, '']))
      await this.#write(id, [...made], signal)
      this.#put = made
      this.#certificates.clear()
      void this.#follow(id, signal)
    }
    this.#loaded = '' // it costs little to ask for what is in force
    this.#id = id
    this.#isSure = true
    this.#isOver = false
    return id
  }

  async #putFiles(id: string, signal: AbortSignal) {
    const { slots, isServing } = this.#given.wanted()
    const all = new Map([...slots].map(([key, addresses]) => [`slots/${key}`, addresses.join(' ')]))
    all.set(healthFile, isServing ? '200' : '503')
    const changed = [...all].filter(([path, text]) => this.#put.get(path) !== text)
    if (changed.length > 0) await this.#write(id, changed, signal)
    for (const [path, text] of changed) this.#put.set(path, text)
    const left = [...this.#put.keys()].filter((path) => /^slots\//.test(path) && !all.has(path))
    if (left.length === 0) return
    const paths = left.map((path) => `${folderInside}/${path}`)
    await this.#engine.sweep(id, { paths, signal })
    for (const path of left) this.#put.delete(path)
  }

  /**
   * Each file is away for an instant while the engine replaces it: Caddy then tries another slot, or this one
   * again.
   */
  #write(id: string, texts: [string, string][], signal: AbortSignal) {
    const files = texts.flatMap(([path, text]) => {
      if (!path.startsWith('slots/')) return { path, content: text, mode: 0o600 }
      const addresses = text.split(' ')
      return Array.from({ length: slotCount }, (_, slot) => ({
        path: `${path}/${slot}`,
        content: addresses[slot % addresses.length]!,
        mode: 0o600,
      }))
    })
    return this.#engine.put(id, { path: folderInside, files, signal })
  }

  /** Before the configuration that names them. */
  async #putCertificates(id: string, signal: AbortSignal) {
    const { issued } = this.#given.wanted()
    const due = [...issued].filter(([host, end]) => this.#certificates.get(host) !== end)
    if (due.length === 0) return
    const found = await this.#given.readCertificates({ signal })
    const there = due.filter(([host]) => found.has(host))
    const files = there.flatMap(([host]) =>
      (['crt', 'key'] as const).map((kind) => ({
        path: certificateFile(host, issued.get(host)!, kind),
        content: found.get(host)![kind],
        mode: 0o600,
      })),
    )
    if (files.length > 0)
      await this.#engine.put(id, { path: certificatesInside.path, files, signal })
    for (const [host, end] of there) this.#certificates.set(host, end)
  }

  async #load(id: string, plan: OtherPlan, signal: AbortSignal) {
    const certified = Object.fromEntries([...this.#certificates].sort())
    const configuration = configurationOf({
      ...plan,
      timesBodies: this.#timesBodies,
      home: { ...plan.home, certified },
      authority: null,
    })
    const text = JSON.stringify(configuration)
    if (text === this.#loaded) return
    const file = { path: nextFile, content: text, mode: 0o600 }
    await this.#engine.put(id, { path: folderInside, files: [file], signal })
    try {
      await this.#engine.load(id, { path: `${folderInside}/${nextFile}`, signal })
      this.#loaded = text
    } catch (error) {
      if (!this.#timesBodies || !(error instanceof Failure) || !isUntimed(error)) throw error
      this.#timesBodies = false
      await this.#load(id, plan, signal)
    }
  }

  async #follow(id: string, signal: AbortSignal) {
    try {
      for await (const lines of this.#engine.lines(id, { signal })) {
        this.#lastRequest = performance.now()
        this.#given.count(lines)
      }
    } catch (error) {
      if (!signal.aborted) report('requests of an edge are not counted', error, this.#who)
    }
    if (!signal.aborted) this.#put.clear() // the next look begins again
    this.#isSure = false
  }

  get #who() {
    return { server: this.#given.name }
  }

  /** Logs a problem once, not every few seconds; none of a server that is away and has no edge. */
  #say(error: unknown) {
    if (isEngineAway(error) && this.#id === null && !this.#given.wanted().isServing) return
    const trouble =
      error === null || error instanceof Failure
        ? error
        : new Failure('edge_failed', String(error), 'See Davit’s own log.', { cause: error })
    if (trouble && trouble.message !== this.trouble?.message)
      report('the edge of a server has a problem', trouble, this.#who)
    if (!trouble && this.trouble) journal.info('the edge of a server serves again', this.#who)
    this.trouble = trouble
  }
}
