import { expect, test } from 'bun:test'
import { ended } from '../load/site.ts'
import { deployNext, underLoad } from './edge.ts'
import type { Deployment } from './watch.ts'

test('no visitor notices five deploys', () => underLoad({ rounds: 5, round: deployNext }), 600_000)

test('no visitor notices four rollbacks from one of two versions to the other', () => {
  const targets = new Map<string, Deployment>()
  return underLoad({
    rounds: 4,
    async prepare({ client, site }) {
      targets.set(site.live, site.first)
      const next = site.commit()
      targets.set(next, await ended(client, await site.trigger(client)))
      site.live = next
    },
    async round({ client, site, load }) {
      const [next, target] = [...targets].find(([version]) => version !== site.live)!
      await load.allow(site.live, next)
      const deployment = await ended(client, await site.rollBack(client, target))
      expect(deployment.status).toBe('running')
      targets.set(next, deployment)
      site.live = next
      await load.allow(next)
    },
  })
}, 600_000)

/** By turns one that ends at once, and one whose health never is good. */
test(
  'no visitor reaches a version that fails its gate',
  () =>
    underLoad({
      rounds: 4,
      prepare: ({ client, site }) => client.put(site.path, { healthTimeout: 2 }),
      async round({ client, site }, number) {
        site.commit({ APP_HEALTH: number % 2 === 0 ? 'bad' : 'dead' })
        expect((await ended(client, await site.trigger(client))).status).toBe('failed')
      },
    }),
  600_000,
)
