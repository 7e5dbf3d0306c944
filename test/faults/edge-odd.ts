import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { answers, ended } from '../load/site.ts'
import { comesTrue, until } from '../support/until.ts'
import { killContainer } from './edge-parts.ts'
import { underLoad } from './edge.ts'
import type { Rounds, Scene } from './edge.ts'
import { watch } from './watch.ts'

/** Caddy's admin API is cut off in the middle of a deploy; what needs it waits, and comes about by itself. */
export const socketGone = (options: Rounds) =>
  underLoad(options, {
    what: 'Caddy’s admin socket removed in the middle of a deploy',
    unit: 'rounds after which it was not configured again',
    mayFail: true, // it is restarted, since there is no other way to have a socket again
    async round(scene, number) {
      const { client, site, davit } = scene
      const broken = await deployed(scene, (deployment) => {
        void watch(client, deployment)
          .hears('status deploying')
          .then(() => rmSync(join(davit.dataDir, 'edge/admin.sock'), { force: true }))
      })
      // an option needs the admin API, unlike a host
      const host = `odd-${number}.test`
      const options = { host, https: 'off', headers: { 'X-Option': 'on' } }
      await client.post(`/envs/${site.environmentId}/domains`, options)
      const isBack = await comesTrue(90, async () => {
        const place = `http://127.0.0.1:${site.place.http}/health`
        const response = await fetch(place, { headers: { Host: host } }).catch(() => null)
        return response?.headers.get('X-Option') === 'on'
      })
      return isBack ? broken : [...broken, 'an option is not in force after 90 s']
    },
  })

/**
 * One of two new instances is killed about when its release is made the live one: it is refused, or left
 * out until it is up again.
 */
export const newInstanceDies = (options: Rounds) =>
  underLoad(options, {
    what: 'one of two new instances killed about when the switch comes',
    unit: 'rounds in which a visitor noticed, but for the streams of the one that was killed',
    replicas: 2,
    without: ['upload'],
    async round(scene) {
      const { client, load, davit } = scene
      const labels = [...davit.labels(), 'davit.kind=app']
      const list = async () => await davit.docker.listContainers({ labels })
      const old = (await list()).map(({ id }) => id)
      const broken = await deployed(scene, async (deployment) => {
        await watch(client, deployment).hears('Waiting for')
        await until(async () => (await list()).length === old.length + 2)
        const made = (await list()).filter(({ id }) => !old.includes(id))
        await until(async () => (await Promise.all(made.map(isWell))).every(Boolean))
        await Bun.sleep(950 + Math.random() * 300) // it has to stay up for a second
        const { id } = made[Math.floor(Math.random() * 2)]!
        await load.kill(id.slice(0, 12))
        await killContainer(id)
      })
      const isBack = await comesTrue(60, async () => (await list()).length === 2)
      if (!isBack) broken.push(`instead of two instances there are ${JSON.stringify(await list())}`)
      return broken
    },
  })

const isWell = async ({ addresses }: { addresses: Record<string, string> }) => {
  const place = `http://${Object.values(addresses)[0]}:8080/health`
  return (await fetch(place).catch(() => null))?.ok === true
}

/** Deploys the next version, which may fail, while something is done to it; says what is odd then. */
async function deployed(
  { client, site, load }: Scene,
  meanwhile: (deployment: Awaited<ReturnType<Scene['site']['trigger']>>) => unknown,
) {
  const next = site.commit()
  await load.allow(site.live, next)
  const deployment = await site.trigger(client)
  const doing = meanwhile(deployment)
  const { status } = await ended(client, deployment)
  await doing
  if (status === 'running') site.live = next
  else if (status !== 'failed') return [`${next} is ${status}`]
  const isServed = await comesTrue(30, () => answers(site.place, { version: site.live }))
  await load.allow(site.live)
  return isServed ? [] : [`${site.live} doesn’t respond`]
}
