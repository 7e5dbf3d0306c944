import { EventEmitter } from 'node:events'
import { createRequire } from 'node:module'
import { newest } from '../../src/db/new-id.ts'
import { Random } from './random.ts'

type Timer = { at: number; order: number; work: () => void; again: number | null }

const reality = {
  setImmediate: globalThis.setImmediate,
  Date: globalThis.Date,
  write: process.stderr.write.bind(process.stderr),
}

/** Where the clock of every order begins. */
const beginning = Date.UTC(2030, 0, 1)

/**
 * Time, chance and threads as a seed decides them: what is loaded after this module lives in it. Nothing
 * in here waits for the real clock, the disk or another thread, so that an order can be told again.
 */
class World {
  now = beginning
  random = new Random(0)
  /** What was written to the journal. */
  journal: string[] = []
  /** Whether something runs at an address. */
  isReached: (address: string) => boolean = () => false
  #timers: Timer[] = []
  #immediates: (() => void)[] = []
  #order = 0
  #ids = 0

  reset(seed: number, now = beginning) {
    this.now = now
    this.random = new Random(seed)
    this.journal = []
    this.#timers = []
    this.#immediates = []
    this.#ids = 0
    newest.time = 0
  }

  /** Resolves when nothing goes on before something outside is given or a timer fires. */
  async settle() {
    do {
      for (const work of this.#immediates.splice(0)) work()
      await new Promise<void>((resolve) => reality.setImmediate(resolve))
    } while (this.#immediates.length > 0)
  }

  /** When the next timer fires; Infinity when there is none. */
  get nextTimer() {
    return this.#timers[0]?.at ?? Infinity
  }

  fireNext() {
    const timer = this.#timers.shift()!
    this.now = Math.max(this.now, timer.at)
    if (timer.again !== null) this.#insert({ ...timer, at: this.now + timer.again })
    timer.work()
  }

  forgetTimers() {
    this.#timers = []
    this.#immediates = []
  }

  set(work: () => void, milliseconds: number, again: number | null = null) {
    return this.#insert({ at: this.now + Math.max(0, milliseconds), order: 0, work, again })
  }

  clear(timer: Timer) {
    this.#timers = this.#timers.filter(({ order }) => order !== timer.order)
  }

  soon(work: () => void) {
    this.#immediates.push(work)
  }

  /** A UUID of version 7 that comes after every other one of its millisecond. */
  newId(time = this.now) {
    const tail = (++this.#ids).toString(16).padStart(12, '0')
    const head = time.toString(16).padStart(12, '0')
    return `${head.slice(0, 8)}-${head.slice(8)}-7${tail.slice(0, 3)}-8${tail.slice(3, 6)}-${tail.padStart(12, 'a')}`
  }

  #insert(timer: Timer) {
    const set = { ...timer, order: timer.order || ++this.#order }
    const at = this.#timers.findLastIndex((other) => other.at <= set.at)
    this.#timers.splice(at + 1, 0, set)
    return set
  }
}

export const world = new World()

/** As code holds a timer. */
const handle = (timer: Timer) => ({
  timer,
  ref: () => handle(timer),
  unref: () => handle(timer),
  hasRef: () => false,
  close: () => world.clear(timer),
  [Symbol.dispose]: () => world.clear(timer),
})

const clear = (held: unknown) => {
  const timer = (held as { timer?: Timer } | undefined)?.timer
  if (timer) world.clear(timer)
}

class FakeDate extends reality.Date {
  constructor(...args: unknown[]) {
    super(...((args.length > 0 ? args : [world.now]) as [number]))
  }

  static override now = () => world.now
}

/** Runs its tasks on this thread, at once. */
class InlineWorker {
  onmessage: (event: { data: unknown }) => void = () => {}
  onerror = () => {}
  ref() {}
  unref() {}
  terminate() {}

  constructor() {
    this.#say({ value: 'ready' })
  }

  postMessage(data: unknown) {
    const thread = globalThis as unknown as Record<string, (...args: unknown[]) => void>
    thread.postMessage = (reply) => this.#say(reply)
    thread.onmessage!({ data })
  }

  #say(data: unknown) {
    void Promise.resolve().then(() => this.onmessage({ data }))
  }
}

type Work = (...args: unknown[]) => void

Object.assign(globalThis, {
  setTimeout: (work: Work, milliseconds = 0, ...args: unknown[]) =>
    handle(world.set(() => work(...args), milliseconds)),
  setInterval: (work: Work, milliseconds = 0, ...args: unknown[]) =>
    handle(world.set(() => work(...args), milliseconds, milliseconds)),
  setImmediate: (work: Work, ...args: unknown[]) => world.soon(() => work(...args)),
  clearTimeout: clear,
  clearInterval: clear,
  Date: FakeDate,
  Worker: InlineWorker,
})
Object.assign(Bun, {
  sleep: (milliseconds: number) => new Promise<void>((resolve) => world.set(resolve, milliseconds)),
  randomUUIDv7: (_: string, time?: number) => world.newId(time),
  listen: () => ({ stop() {} }), // every port of the host is free
})
Object.assign(performance, { now: () => world.now - beginning })
Object.assign(Math, { random: () => world.random.next() })
Object.assign(AbortSignal, {
  timeout(milliseconds: number) {
    const over = new AbortController()
    world.set(() => over.abort(new DOMException('It took too long.', 'TimeoutError')), milliseconds)
    return over.signal
  },
})
Object.assign(process.stderr, {
  write: (text: string) => (world.journal.push(text.trim()), true),
})
/** A connection to where nothing but connections is asked for. */
function connect({ host }: { host: string }) {
  const socket = Object.assign(new EventEmitter(), { destroy() {} })
  world.set(() => {
    if (world.isReached(host)) socket.emit('connect')
    else socket.emit('error', Object.assign(new Error(), { code: 'ECONNREFUSED' }))
  }, 1)
  return socket
}

// loaded before anything imports a name of them
Object.assign(createRequire(import.meta.url)('node:net'), { connect })
Object.assign(createRequire(import.meta.url)('node:fs/promises'), {
  statfs: async () => ({ bsize: 4096, blocks: 1e9, bfree: 9e8, bavail: 9e8 }),
  rm: async () => {},
})
await import('../../src/parse-worker.ts')
