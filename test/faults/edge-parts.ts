import { answers, isAnsweredBy } from '../load/site.ts'
import { askEngine } from '../support/machine/engine.ts'
import { until } from '../support/until.ts'
import { underLoad } from './edge.ts'
import type { Rounds } from './edge.ts'

/** A host is added in each round, and answers. */
export function hostsUnderLoad(options: Rounds) {
  const took: number[] = []
  return underLoad(options, {
    what: 'a host added under steady load',
    unit: 'rounds in which a visitor noticed',
    async round({ client, site }, number) {
      const host = `more-${number}.test`
      await client.post(`/envs/${site.environmentId}/domains`, { host, https: 'off' })
      const from = performance.now()
      await until(() => answers(site.place, { version: site.live, host }))
      took.push(performance.now() - from)
      await Bun.sleep(500) // so that it is noticed by whom it comes about
      return []
    },
    figures: () => `each answered after ${inMilliseconds(took)}`,
  })
}

/** One of two instances is killed, as a crash does: the engine starts it again. */
export const instancesUnderLoad = (options: Rounds) =>
  underLoad(options, {
    what: 'one of two instances killed under steady load',
    unit: 'rounds in which a visitor noticed, but for the streams of the one that was killed',
    replicas: 2,
    without: ['upload'], // one to the instance that is killed ends with it, and names it not
    async round(scene, number) {
      const labels = [...scene.davit.labels(), 'davit.kind=app']
      const containers = await scene.davit.docker.listContainers({ labels })
      const running = containers.map(({ id }) => id).toSorted()
      if (running.length !== 2) return [`there are ${running.length} instances`]
      const id = running[number % 2]!
      await scene.load.kill(id.slice(0, 12))
      const killed = await killContainer(id)
      // the engine shows it running until it has noticed, and starts it later each time
      await until(async () => ![0, killed].includes((await stateOf(id)).Pid))
      // back in its place, for the next one to be killed
      await until(() => isAnsweredBy(scene.site.place, id.slice(0, 12)))
      return []
    },
  })

/** Caddy is killed; it comes back with what it had, whatever Davit does. */
export function caddyUnderLoad(options: Rounds) {
  const took: number[] = []
  return underLoad(options, {
    what: 'Caddy killed under steady load',
    unit: 'rounds after which it did not come back by itself',
    mayFail: true,
    async round({ davit, site }) {
      const labels = [...davit.labels(), 'davit.kind=edge']
      const [caddy] = await davit.docker.listContainers({ labels })
      const from = performance.now()
      await killContainer(caddy!.id)
      await until(async () => !(await answers(site.place, { version: site.live })))
      await until(() => answers(site.place, { version: site.live }))
      took.push(performance.now() - from)
      await Bun.sleep(2000)
      return []
    },
    figures: () => `answered again after ${inMilliseconds(took)}`,
  })
}

const inMilliseconds = (values: number[]) =>
  `${Math.round(Math.min(...values))} to ${Math.round(Math.max(...values))} ms`

type State = { Pid: number }

async function stateOf(id: string) {
  const answer = await askEngine(`/containers/${id}/json`)
  return ((await answer.json()) as { State: State }).State
}

/** By its process, so that the engine takes it for a crash; returns the id that the process had. */
export async function killContainer(id: string) {
  const { Pid } = await stateOf(id)
  process.kill(Pid, 'SIGKILL')
  return Pid
}
