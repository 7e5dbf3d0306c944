import { aSite, anEdgeOfItsOwn } from '../../load/site.ts'
import { anInstallation } from '../../support/installation.ts'
import { askEngine } from '../../support/machine/engine.ts'
import { until } from '../../support/until.ts'
import { startMeter } from './scene.ts'

export type EdgeScene = Awaited<ReturnType<typeof anEdgeScene>>

const protectedHost = 'protected.test'

/** Milliseconds that an attack lasts. */
const length = 10_000

/** A Davit with its Caddy, an app behind it, and an address of that with a login. */
export async function anEdgeScene(command: string[]) {
  const { settings, ...ports } = await anEdgeOfItsOwn()
  const davit = anInstallation({ command }, settings)
  const { client } = await davit.start()
  const { environmentId, place } = await aSite(davit, { ports })
  const basicAuth = [{ username: 'ada', password: 'open sesame' }]
  await client.post(`/envs/${environmentId}/domains`, {
    host: protectedHost,
    https: 'off',
    basicAuth,
  })
  const url = `http://127.0.0.1:${place.http}`
  const asked = () => fetch(url, { headers: { Host: protectedHost } }).catch(() => null)
  await until(async () => (await asked())?.status === 401)
  const [edge] = await davit.docker.listContainers({
    labels: [...davit.labels(), 'davit.kind=edge'],
  })
  const meter = await startMeter(url, place.plainHost)

  return {
    ...{ place, protectedHost },
    /**
     * The longest and the median response of the app to others in milliseconds while it lasts, the most memory of
     * Caddy in MiB and what it may have, and whether Caddy is still the same process after it.
     */
    async measure(begin: () => Promise<() => void>) {
      const pid = await pidOf(edge!.id)
      await meter.read()
      const end = await begin()
      let memory = await memoryOf(edge!.id)
      for (
        const over = performance.now() + length;
        performance.now() < over;
        await Bun.sleep(250)
      ) {
        const { used, limit } = await memoryOf(edge!.id)
        memory = { used: Math.max(memory.used, used), limit }
      }
      const { longest, median } = await meter.read()
      end()
      return { longest, median, memory, lives: (await pidOf(edge!.id)) === pid }
    },
    async leave() {
      meter.stop()
      await davit.leave()
    },
  }
}

async function memoryOf(id: string) {
  const answer = await askEngine(`/containers/${id}/stats?stream=false&one-shot=true`)
  const {
    memory_stats: { usage, limit },
  } = (await answer.json()) as Stats
  return { used: usage / 2 ** 20, limit: limit / 2 ** 20 }
}

type Stats = { memory_stats: { usage: number; limit: number } }

async function pidOf(id: string) {
  const answer = await askEngine(`/containers/${id}/json`)
  return ((await answer.json()) as { State: { Pid: number } }).State.Pid
}
