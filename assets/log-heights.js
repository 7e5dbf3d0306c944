const bucketSize = 1000

/** How much higher than one line some rows are; of the others that isn't known, and they count as one line. */
export class RowHeights {
  /** By thousands of rows: what they have more together, and each of them. */
  #buckets = new Map()

  /** Answers by how much that row changed. */
  set(number, extra) {
    const at = Math.floor(number / bucketSize)
    let bucket = this.#buckets.get(at)
    if (!bucket) {
      if (extra === 0) return 0
      this.#buckets.set(at, (bucket = { sum: 0, rows: new Map() }))
    }
    const change = extra - (bucket.rows.get(number) ?? 0)
    if (change === 0) return 0
    bucket.rows.set(number, extra)
    bucket.sum += change
    return change
  }

  /** What the rows before that one have more, from the first on that was measured. */
  before(number) {
    const last = Math.floor(number / bucketSize)
    let sum = 0
    for (const [at, bucket] of this.#buckets) {
      if (at < last) sum += bucket.sum
      if (at !== last) continue
      for (const [row, extra] of bucket.rows) if (row < number) sum += extra
    }
    return sum
  }

  clear() {
    this.#buckets.clear()
  }
}
