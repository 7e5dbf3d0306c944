import { answers, aSite, anEdgeOfItsOwn, ended } from '../load/site.ts'
import { pathOf } from '../deployments/events.ts'
import type { Deployment } from '../faults/watch.ts'
import { run } from '../support/machine/command.ts'
import { anInstallation } from '../support/installation.ts'
import { freePort } from '../support/free-port.ts'
import { until } from '../support/until.ts'
import { inPairs } from './ratio.ts'
import type { Row } from './ratio.ts'

const pairs = 7

/** Without a pause, the version before responds to so many requests that Docker starts the other one later. */
const pollMs = 5

/** From the press of the button to the first response of the version before, which is kept, through the edge. */
export async function benchRollback(_: string, executable: string): Promise<Row> {
  const { settings, ...ports } = await anEdgeOfItsOwn()
  const davit = anInstallation({ command: [executable, 'serve'] }, settings)
  try {
    const { client } = await davit.start()
    const site = await aSite(davit, { ports })
    const versions = new Map([['v0', site.first]])
    let live = site.commit()
    const second = await ended(client, await site.trigger(client))
    versions.set(live, second)

    const apps = { labels: [...davit.labels(), 'davit.kind=app'] }
    /** The other version stops, and is kept. */
    const endWatch = async (deployment: Deployment) => {
      await client.post(`${pathOf(deployment)}/keep`)
      await until(async () => (await davit.docker.listContainers(apps)).length === 1)
    }
    await endWatch(second)

    const rollBack = async () => {
      const [version, target] = [...versions].find(([version]) => version !== live)!
      const from = performance.now()
      const begun = await site.rollBack(client, target)
      while (!(await answers(site.place, { version }))) await Bun.sleep(pollMs)
      const took = performance.now() - from
      const { status } = await ended(client, begun)
      if (status !== 'running') throw new Error(`A rollback of the bench is ${status}.`)
      await endWatch(begun)
      live = version
      return took
    }

    const [image] = davit.rows<{ image: string }>('SELECT image FROM deployments WHERE id = ?', [
      (site.first as Deployment & { id: string }).id,
    ])
    const runImage = async () => {
      const name = `davit-bench-${Bun.randomUUIDv7().slice(-12)}`
      const http = freePort()
      const place = { ...site.place, http }
      const from = performance.now()
      const options = ['--detach', '--name', name, '--publish', `127.0.0.1:${http}:8080`]
      const { exitCode, output } = await run(['docker', 'run', ...options, image!.image])
      if (exitCode !== 0) throw new Error(output)
      while (!(await answers(place, { version: 'v0' }))) await Bun.sleep(pollMs)
      const took = performance.now() - from
      await davit.docker.removeContainer(name, { force: true })
      return took
    }

    await rollBack() // brings the code up to speed
    return {
      what: 'rollback to the kept version, press to first response',
      against: 'docker run of its image',
      unit: 'ms',
      ...(await inPairs(pairs, { davit: rollBack, floor: runImage })),
      aim: '≤ 0.8',
    }
  } finally {
    await davit.leave()
  }
}
