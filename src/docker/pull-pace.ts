import { Failure } from '../platform/errors.ts'

export type LayerProgress = {
  /** The layer's short id. */
  layer: string
  /** The engine's status: `Downloading`, `Extracting`, `Pull complete`, `Already exists`. */
  status: string
  /** In bytes; 0 when the engine doesn't report it. */
  current: number
  total: number
}

/** The minimum of bytes within a time. The engine reports at most every 512 KiB of a layer. */
type Pace = { bytes: number; ms: number }

export type Paces = {
  usual: Pace
  /** Applies while another owner waits for the end of the pull. */
  awaited: Pace
}

const paces: Paces = {
  usual: { bytes: 512 * 2 ** 10, ms: 60_000 },
  awaited: { bytes: 4 * 2 ** 20, ms: 20_000 },
}

export type PullWatch = {
  /** How messages name the image. */
  as: string
  ownerId?: string | undefined
  /** Returns true while someone else waits for its end. */
  isAwaited?: (() => boolean) | undefined
  paces?: Paces | undefined
}

/**
 * The pulls of an engine, which downloads three layers at a time for all of them. A pull whose registry
 * hardly sends anything is ended, so that it can't block the others for long.
 */
export class Pulls {
  readonly #running = new Set<Pull>()

  /** Starts to watch a pull. Dispose of it at its end. */
  watch(options: PullWatch): Pull {
    const pull = new Pull(options, this.#running)
    this.#running.add(pull)
    return pull
  }
}

/** Matches the engine's status of a layer. */
const isComing = /^(Pulling fs layer|Downloading|Retrying)/
const isWaiting = /^Waiting/
/** The engine's own work, which may be silent for long. */
const isLocal = /^(Extracting|Verifying|Download complete)/

class Pull implements Disposable {
  readonly #abort = new AbortController()
  readonly #layers = new Map<string, LayerProgress>()
  readonly #timer: Timer
  /** Bytes that had arrived at each check, the newest last. */
  #looks: { at: number; bytes: number }[] = []
  #bytes = 0

  constructor(
    readonly options: PullWatch,
    readonly all: Set<Pull>,
  ) {
    const { usual, awaited } = options.paces ?? paces
    this.#timer = setInterval(() => this.#look(), Math.min(usual.ms, awaited.ms) / 10)
    this.#look()
  }

  get signal() {
    return this.#abort.signal
  }

  take(layer: LayerProgress) {
    const before = this.#layers.get(layer.layer)
    const isSame = before?.status === layer.status
    this.#bytes += Math.max(0, layer.current - (isSame ? before.current : 0))
    this.#layers.set(layer.layer, layer)
  }

  /** True when every missing layer waits for the engine's downloads, which run in order. */
  get #isQueued() {
    return !this.#has(isComing) && this.#has(isWaiting)
  }

  #has = (state: RegExp) => this.#layers.values().some(({ status }) => state.test(status))

  #look() {
    const now = performance.now()
    const [oldest] = this.all
    const isBusy = this.#has(isLocal) && !this.#has(isComing) && !this.#has(isWaiting)
    if (isBusy || (this.#isQueued && oldest !== this)) this.#looks = []
    const { usual, awaited } = this.options.paces ?? paces
    this.#looks = this.#looks.filter(({ at }) => at > now - 2 * usual.ms)
    this.#looks.push({ at: now, bytes: this.#bytes })
    this.#endBelow(usual, now)
    if (this.#isAwaited) this.#endBelow(awaited, now)
  }

  get #isAwaited() {
    const { ownerId, isAwaited } = this.options
    const waits = (other: Pull) => other.options.ownerId !== ownerId && other.#isQueued
    return isAwaited?.() || this.all.values().some(waits)
  }

  #endBelow({ bytes: least, ms }: Pace, now: number) {
    const begun = this.#looks.findLast(({ at }) => at <= now - ms)
    if (begun && this.#bytes - begun.bytes < least)
      this.#abort.abort(stalled(this.options.as, { bytes: least, ms }))
  }

  [Symbol.dispose]() {
    clearInterval(this.#timer)
    this.all.delete(this)
  }
}

const stalled = (image: string, { bytes: least, ms }: Pace) =>
  new Failure(
    'pull_stalled',
    `The registry of ${image} sent less than ${least / 1024} KiB within ${ms / 1000} s, so the pull was stopped.`,
    'Try again later. If it keeps failing, check the registry and this server’s connection to it.',
  )
