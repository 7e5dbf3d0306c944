import { describe, expect, test } from 'bun:test'
import { allWell, firstSeed, patience, runOrders } from './run-orders.ts'
import type { OrderKind } from './run-orders.ts'

/** A seed of a failed run: that order alone is run, and told step by step, with the kinds that it was found with. */
const asked = Number(process.env.DAVIT_SEED)

/** Orders that found a bug which has been fixed: the first seed of each, in calm weather or not. */
const keptSeeds: { seed: number; isCalm: boolean; bug: string }[] = [
  { seed: 300_041, isCalm: true, bug: 'a stop in the middle of a switch left the app down' },
  {
    seed: 300_406,
    isCalm: true,
    bug: 'a start that failed without the engine left its containers',
  },
  {
    seed: 950_061,
    isCalm: false,
    bug: 'a cancelled start was lost when Davit stopped before it was undone',
  },
  {
    seed: 739_778_033,
    isCalm: false,
    bug: 'a restart that was cancelled before it began left its service unhealthy',
  },
  {
    seed: 739_779_616,
    isCalm: false,
    bug: 'a container whose creation had a lost response was left over',
  },
  {
    seed: 739_779_812,
    isCalm: false,
    bug: 'a restart that failed while the engine was away left a state that was not true',
  },
]

type Run = { seed: number | number[]; count: number; kinds: OrderKind[]; what: string }

const first = firstSeed(1_000_000)

const runs: Run[] = asked
  ? [{ seed: asked, count: 1, kinds: askedKinds(), what: 'asked for' }]
  : [
      { seed: first, count: 20, kinds: ['short'], what: `short, from seed ${first} on` },
      { seed: first, count: 10, kinds: [], what: `from seed ${first} on` },
      {
        ...{ seed: first, count: 10, kinds: ['short', 'processes'] },
        what: `of several processes, from seed ${first} on`,
      },
      {
        ...{ seed: first, count: 10, kinds: ['short', 'edge'] },
        what: `behind an edge, from seed ${first} on`,
      },
      {
        ...{ seed: first, count: 10, kinds: ['processes', 'edge'] },
        what: `of several processes behind an edge, from seed ${first} on`,
      },
      {
        ...{ seed: first, count: 10, kinds: ['watched'] },
        what: `of versions that are watched, from seed ${first} on`,
      },
      {
        ...{ seed: first, count: 10, kinds: ['shares'] },
        what: `of versions with a share of the requests, from seed ${first} on`,
      },
      {
        // an app that crashed for ever was inspected four times a second, until it was started again
        ...{ seed: [6_100_032, 6_100_346], count: 1, kinds: ['watched'] },
        what: 'watched, that found a bug',
      },
      {
        ...{ seed: first, count: 6, kinds: ['servers'] },
        what: `on servers that go away and come back, from seed ${first} on`,
      },
      ...[true, false].map((calm): Run => {
        const seed = keptSeeds.filter(({ isCalm }) => isCalm === calm).map(({ seed }) => seed)
        const kinds = calm ? (['calm'] as const) : []
        return {
          seed,
          count: 1,
          kinds: [...kinds],
          what: `each that found a bug, ${calm ? 'calm' : 'with faults'}`,
        }
      }),
    ]

function askedKinds(): OrderKind[] {
  const {
    DAVIT_SHORT,
    DAVIT_PROCESSES,
    DAVIT_BY_EDGE,
    DAVIT_WATCHED,
    DAVIT_SHARES,
    DAVIT_SERVERS,
  } = process.env
  return [
    ...(DAVIT_SHORT ? ['short' as const] : []),
    ...(DAVIT_PROCESSES ? ['processes' as const] : []),
    ...(DAVIT_BY_EDGE ? ['edge' as const] : []),
    ...(DAVIT_WATCHED ? ['watched' as const] : []),
    ...(DAVIT_SHARES ? ['shares' as const] : []),
    ...(DAVIT_SERVERS ? ['servers' as const] : []),
  ]
}

describe('whatever users, kills and faults do, in whichever order, one release is live, and nothing is left over or stuck:', () => {
  for (const { seed, count, kinds, what } of runs)
    test(
      `${count} ${count === 1 ? 'order' : 'orders'}, ${what}`,
      async () => expect(await runOrders(seed, count, ...kinds)).toEqual(allWell),
      patience(count),
    )
})
