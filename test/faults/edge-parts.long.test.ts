import { expect, test } from 'bun:test'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { waitingForResponse } from '../../src/runtime/steps/gate.ts'
import { answers, ended, isAnsweredBy } from '../load/site.ts'
import { until } from '../support/until.ts'
import { killContainer, stateOf, underLoad } from './edge.ts'
import type { Scene } from './edge.ts'
import { watch } from './watch.ts'
import type { Deployment } from './watch.ts'

test(
  'no visitor notices that hosts are added',
  () =>
    underLoad({
      rounds: 5,
      async round({ client, site }, number) {
        const host = `more-${number}.test`
        await client.post(`/envs/${site.environmentId}/domains`, { host, https: 'off' })
        await until(() => answers(site.place, { version: site.live, host }))
        await Bun.sleep(500) // so that it is noticed by whom it comes about
      },
    }),
  600_000,
)

/** As a crash does: the engine starts it again. */
test(
  'of an app with two instances no visitor notices that one is killed',
  () =>
    underLoad({
      rounds: 4,
      replicas: 2,
      without: ['upload'], // one to the instance that is killed ends with it, and names it not
      async round({ davit, site, load }, number) {
        const running = (await instances(davit)).map(({ id }) => id).toSorted()
        expect(running).toHaveLength(2)
        const id = running[number % 2]!
        await load.kill(id.slice(0, 12))
        const killed = await killContainer(id)
        // the engine shows it running until it has noticed, and starts it later each time
        await until(async () => ![0, killed].includes((await stateOf(id)).Pid))
        // back in its place, for the next one to be killed
        await until(() => isAnsweredBy(site.place, id.slice(0, 12)))
      },
    }),
  600_000,
)

/** It is refused, or left out until it is up again. */
test(
  'no visitor notices that one of two new instances dies about when the switch comes',
  () =>
    underLoad({
      rounds: 4,
      replicas: 2,
      without: ['upload'],
      prepare: ({ client, site }) => client.put(site.path, { watchSeconds: 0 }), // else it goes back
      async round(scene) {
        const { client, load, davit } = scene
        const old = (await instances(davit)).map(({ id }) => id)
        await deployDuring(scene, async (deployment) => {
          await watch(client, deployment).hears(waitingForResponse)
          await until(async () => (await instances(davit)).length === old.length + 2)
          const made = (await instances(davit)).filter(({ id }) => !old.includes(id))
          await until(async () => (await Promise.all(made.map(isWell))).every(Boolean))
          await Bun.sleep(950 + Math.random() * 300) // it has to stay up for a second
          const { id } = made[Math.floor(Math.random() * 2)]!
          await load.kill(id.slice(0, 12))
          await killContainer(id)
        })
        await until(async () => (await instances(davit)).length === 2)
      },
    }),
  600_000,
)

/** With what it had, whatever Davit does. */
test(
  'Caddy comes back by itself when it is killed',
  () =>
    underLoad({
      rounds: 2,
      mayFail: true,
      async round({ davit, site }) {
        const labels = [...davit.labels(), 'davit.kind=edge']
        const [caddy] = await davit.docker.listContainers({ labels })
        await killContainer(caddy!.id)
        await until(async () => !(await answers(site.place, { version: site.live })))
        await until(() => answers(site.place, { version: site.live }))
      },
    }),
  300_000,
)

test(
  'Caddy is configured again when its admin socket is removed in the middle of a deploy',
  () =>
    underLoad({
      rounds: 2,
      mayFail: true, // it is restarted, since there is no other way to have a socket again
      async round(scene, number) {
        const { client, site, davit } = scene
        await deployDuring(scene, async (deployment) => {
          await watch(client, deployment).hears('status deploying')
          rmSync(join(davit.dataDir, 'edge/admin.sock'), { force: true })
        })
        // an option needs the admin API, unlike a host
        const host = `odd-${number}.test`
        const options = { host, https: 'off', headers: { 'X-Option': 'on' } }
        await client.post(`/envs/${site.environmentId}/domains`, options)
        await until(async () => {
          const place = `http://127.0.0.1:${site.place.http}/health`
          const response = await fetch(place, { headers: { Host: host } }).catch(() => null)
          return response?.headers.get('X-Option') === 'on'
        })
      },
    }),
  300_000,
)

const instances = ({ docker, labels }: Scene['davit']) =>
  docker.listContainers({ labels: [...labels(), 'davit.kind=app'] })

const isWell = async ({ addresses }: { addresses: Record<string, string> }) => {
  const place = `http://${Object.values(addresses)[0]}:8080/health`
  return (await fetch(place).catch(() => null))?.ok === true
}

/** Deploys the next version, which may fail, while something is done to it: one of the two serves then. */
async function deployDuring(
  { client, site, load }: Scene,
  meanwhile: (deployment: Deployment) => Promise<unknown>,
) {
  const next = site.commit()
  await load.allow(site.live, next)
  const deployment = await site.trigger(client)
  const doing = meanwhile(deployment)
  const { status } = await ended(client, deployment)
  await doing
  expect(status).toBeOneOf(['running', 'failed'])
  if (status === 'running') site.live = next
  await until(() => answers(site.place, { version: site.live }))
  await load.allow(site.live)
}
