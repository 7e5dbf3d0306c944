/**
 * Milliseconds of the processor that work takes, of three tries the least: neither a busy machine nor a
 * first run that is compiled counts. Compare it with other work; by itself it says how quick a machine is.
 */
export function costOf(work: () => unknown) {
  return Math.min(
    ...[1, 2, 3].map(() => {
      const begun = process.cpuUsage()
      work()
      const { user, system } = process.cpuUsage(begun)
      return (user + system) / 1000
    }),
  )
}

/** Milliseconds below which a cost is noise. */
const noise = 5

/** By what the cost grows with eight times the length: about 8 where it is linear, 64 where it is quadratic. */
export function growth(work: (length: number) => unknown, length: number) {
  work(length) // compiles
  return (
    costOf(() => work(8 * length)) /
    Math.max(
      noise,
      costOf(() => work(length)),
    )
  )
}

/** Above what is linear on any machine, below what is quadratic. */
export const linear = 24
