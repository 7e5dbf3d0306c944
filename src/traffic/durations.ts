/** Buckets per doubling: a reported duration is off by at most 2^(1/16), 4.4 %. */
const parts = 8

/** Longer ones, over about a year, share the last bucket. */
const last = 45 * parts

/**
 * A histogram of request durations with buckets of a constant ratio. Histograms of several spans or hosts
 * add up without loss: the percentiles are the same as if all had been counted together.
 */
export class Durations {
  readonly #counts = new Map<number, number>()

  add(seconds: number, count = 1) {
    this.#addTo(stepOf(seconds), count)
  }

  /** Adds a packed histogram so many times. */
  addPacked(data: Uint8Array, times = 1) {
    let step = 0
    for (let at = 0; at < data.length;) {
      const [ahead, counted] = readNumber(data, at)
      const [count, next] = readNumber(data, counted)
      this.#addTo((step += ahead), times * count)
      at = next
    }
  }

  /** As bytes: alternating bucket (as the distance from the previous one) and count. */
  pack(): Buffer {
    const bytes: number[] = []
    let before = 0
    for (const [step, count] of this.#sorted()) {
      writeNumber(bytes, step - before)
      writeNumber(bytes, count)
      before = step
    }
    return Buffer.from(bytes)
  }

  /** The given percentile in seconds; null without requests. */
  percentile(share: number): number | null {
    const all = this.#sorted()
    const total = all.reduce((sum, [, count]) => sum + count, 0)
    let left = Math.max(1, Math.ceil(total * share))
    for (const [step, count] of all) if ((left -= count) <= 0) return secondsOf(step)
    return null
  }

  /** How many lasted up to each of these seconds, in their order, and the sum of all. */
  upTo(bounds: readonly number[]) {
    const counts = bounds.map(() => 0)
    let [count, seconds] = [0, 0]
    for (const [step, several] of this.#counts) {
      const each = secondsOf(step)
      count += several
      seconds += several * each
      for (const [at, bound] of bounds.entries()) if (each <= bound) counts[at]! += several
    }
    return { counts, count, seconds }
  }

  #addTo(step: number, count: number) {
    this.#counts.set(step, (this.#counts.get(step) ?? 0) + count)
  }

  #sorted = () => [...this.#counts].sort(([a], [b]) => a - b)
}

/** Buckets start at a microsecond. */
const stepOf = (seconds: number) =>
  Math.min(last, Math.round(Math.log2(Math.max(seconds * 1e6, 1)) * parts))

const secondsOf = (step: number) => 2 ** (step / parts) / 1e6

/** Seven bits to a byte, the lowest first; the eighth bit says that more follow. */
function writeNumber(bytes: number[], value: number) {
  for (; value >= 128; value = Math.floor(value / 128)) bytes.push((value % 128) + 128)
  bytes.push(value)
}

function readNumber(data: Uint8Array, at: number): [value: number, next: number] {
  let value = 0
  for (let factor = 1; ; factor *= 128) {
    const byte = data[at++] ?? 0
    value += (byte % 128) * factor
    if (byte < 128) return [value, at]
  }
}
