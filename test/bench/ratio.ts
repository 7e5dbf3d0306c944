export type Row = {
  what: string
  against: string
  unit: string
  /** One value for each pair, in the order measured. */
  davit: number[]
  floor: number[]
  /** The ratio Davit aims at. */
  aim: string
  /** The best ratio of another tool, as it was measured once. */
  peer?: string
}

/** For a look at the bench itself: so many pairs, whatever the rows want. */
export const mostPairs = Number(process.env.BENCH_PAIRS ?? Infinity)

/** Measures both sides in turn, so that a machine that slows down slows both. */
export const inPairs = (
  count: number,
  { davit, floor }: { davit: () => Promise<number>; floor: () => Promise<number> },
) => inTurns(count, { floor, davit })

/** The same for any number of them. */
export async function inTurns<Name extends string, Value>(
  count: number,
  sides: Record<Name, () => Promise<Value>>,
) {
  const names = Object.keys(sides) as Name[]
  const values = Object.fromEntries(names.map((name) => [name, []])) as unknown as Record<
    Name,
    Value[]
  >
  for (let turn = 0; turn < Math.min(count, mostPairs); turn++)
    for (const name of names) values[name].push(await sides[name]())
  return values
}

/** Median, least and most of the ratios of the pairs. */
export function summarize({ davit, floor }: Pick<Row, 'davit' | 'floor'>) {
  const ratios = davit.map((value, pair) => value / floor[pair]!)
  return { davit: spread(davit), floor: spread(floor), ratio: spread(ratios) }
}

/** The value that so large a share of them do not exceed. */
export const percentile = (values: number[], share: number) =>
  values.toSorted((a, b) => a - b)[Math.ceil(values.length * share) - 1]!

function spread(values: number[]) {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  const median =
    sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
  return { median, min: sorted[0]!, max: sorted.at(-1)! }
}
