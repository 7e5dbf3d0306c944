import { ended } from '../load/site.ts'
import { underLoad } from './edge.ts'
import type { Rounds, Scene } from './edge.ts'
import type { Deployment } from './watch.ts'
import { watch } from './watch.ts'

const unit = 'rounds in which a visitor noticed'

/** Each with a commit of its own. */
export const deploysUnderLoad = (options: Rounds) =>
  underLoad(options, {
    what: 'deploys under steady load',
    unit,
    async round({ client, site, load }) {
      const next = site.commit()
      await load.allow(site.live, next)
      const { status } = await ended(client, await site.trigger(client))
      if (status !== 'running') return [`${next} is ${status}`]
      site.live = next
      await load.allow(next)
      return []
    },
  })

/** From one of two versions to the other. */
export function rollbacksUnderLoad(options: Rounds) {
  const targets = new Map<string, Deployment>()
  return underLoad(options, {
    what: 'rollbacks under steady load',
    unit,
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
      if (deployment.status !== 'running') return [`the rollback is ${deployment.status}`]
      targets.set(next, deployment)
      site.live = next
      await load.allow(next)
      return []
    },
  })
}

/** By turns one that ends at once, and one whose health never is good. */
export const failuresUnderLoad = (options: Rounds) =>
  underLoad(options, {
    what: 'deploys that fail their gate, under steady load',
    unit,
    prepare: ({ client, site }) => client.put(site.path, { healthTimeout: 2 }),
    async round({ client, site }, number) {
      const next = site.commit({ APP_HEALTH: number % 2 === 0 ? 'bad' : 'dead' })
      const { status } = await ended(client, await site.trigger(client))
      return status === 'failed' ? [] : [`${next} is ${status}`]
    },
  })

/** What is heard before the kill; a part of a second later it comes. */
const moments = ['status building', 'status deploying', 'Waiting for', 'status running', 'done']

/** Davit is killed in the middle of deploys, a moment later each time, and started again. */
export const killsUnderLoad = (options: Rounds) =>
  underLoad(options, {
    what: 'Davit killed in the middle of a deploy, under steady load',
    unit,
    async round(scene, number) {
      const { site, load, davit } = scene
      const next = site.commit()
      await load.allow(site.live, next)
      const deployment = await site.trigger(scene.client)
      await watch(scene.client, deployment).hears(moments[number % moments.length]!)
      await Bun.sleep(Math.random() * 150)
      await davit.kill()
      await Bun.sleep(1000) // the edge serves without it
      await restart(scene)
      const { status } = await ended(scene.client, deployment)
      if (status === 'running') site.live = next
      else if (status !== 'failed') return [`${next} is ${status}`]
      await load.allow(site.live)
      return []
    },
  })

async function restart(scene: Scene) {
  const { client } = await scene.davit.start()
  scene.client = client
}
