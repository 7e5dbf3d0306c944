/** Maximum of characters of a name that are compared. */
const maxCompared = 100

/** Pairs of characters compared in all names together: some tenths of a second. */
const maxSteps = 30_000_000

/**
 * Sorts names by similarity to a missing one. Names of similar length are compared first; when the budget is
 * used up, the others follow in their order.
 */
export function nearest(wanted: string, names: string[], effort = maxSteps): string[] {
  const from = wanted.slice(0, maxCompared)
  const byLength = names.toSorted(
    (a, b) => Math.abs(a.length - wanted.length) - Math.abs(b.length - wanted.length),
  )
  let left = effort
  const rated = byLength.map((name) => {
    const to = name.slice(0, maxCompared)
    left -= from.length * to.length
    return { name, distance: left < 0 ? Infinity : editDistance(from, to) }
  })
  return rated.sort((a, b) => compare(a.distance, b.distance)).map(({ name }) => name)
}

/** Infinity minus Infinity is NaN. */
const compare = (a: number, b: number) => (a === b ? 0 : a - b)

function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, i) => i)
  for (let i = 1; i <= from.length; i++) {
    const next = [i]
    for (let j = 1; j <= to.length; j++) {
      const replaced = row[j - 1]! + (from[i - 1] === to[j - 1] ? 0 : 1)
      next.push(Math.min(replaced, row[j]! + 1, next[j - 1]! + 1))
    }
    row = next
  }
  return row[to.length]!
}
