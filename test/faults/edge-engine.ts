import { EngineError, connectDocker } from '../../src/docker/index.ts'
import { startLoad } from '../load/load.ts'
import { aSite, anEdgeOfItsOwn, answers } from '../load/site.ts'
import { bunImage } from '../support/images/bun.ts'
import { caddyImage } from '../support/images/edge.ts'
import { anInstallation } from '../support/installation.ts'
import type { Launch } from '../support/installation.ts'
import { run } from '../support/machine/command.ts'
import { comesTrue } from '../support/until.ts'
import { startPrivateEngine } from './private-engine.ts'
import type { FaultReport } from './report.ts'

/** Where its networks come from; the machine's own engine has others. */
const pool = '10.214.0.0/16'

/** Seconds in which Caddy and the app are back. */
const patience = 60

/** The engine is stopped and killed by turns, and with it all containers, Caddy's too. */
export async function engineUnderEdge({
  rounds,
  ...launch
}: Launch & { rounds: number }): Promise<FaultReport> {
  const { settings, ...ports } = await anEdgeOfItsOwn()
  // its containers are reached from here, as those of an engine of this host are
  await using engine = await startPrivateEngine({
    images: [caddyImage, bunImage],
    config: { iptables: false },
  })
  await using undo = new AsyncDisposableStack()
  const { exitCode, output } = await run(['ip', 'route', 'add', pool, 'via', engine.address])
  if (exitCode !== 0) throw new Error(`The test can't lay a route: ${output}`)
  undo.defer(async () => void (await run(['ip', 'route', 'del', pool])))
  const env = { ...settings, DOCKER_HOST: engine.host, DAVIT_NETWORK_POOL: pool }
  const davit = anInstallation(launch, env)
  const docker = connectDocker({ host: engine.host })
  const took: number[] = []
  let bad = 0
  try {
    const { client } = await davit.start()
    const site = await aSite(davit, { client, ports, address: engine.address })
    for (let round = 0; round < rounds; round++) {
      await engine.stop(round % 2 === 0 ? 'SIGTERM' : 'SIGKILL')
      await engine.start()
      const back = performance.now()
      // an engine that was killed ends what runs when it comes back, and may leave it so
      const made = await docker.listContainers({ labels: davit.labels(), all: true })
      for (const { id, state } of made)
        if (state !== 'running') await docker.startContainer(id).catch(unlessReplaced)
      const isBack = await comesTrue(patience, () => answers(site.place, { version: site.live }))
      took.push(performance.now() - back)
      if (!isBack) bad++
    }
    // what it serves then is whole
    const load = await startLoad(site.place, { versions: [site.live] })
    await Bun.sleep(3000)
    const { failed, cut, reasons } = await load.stop()
    for (const reason of reasons) console.error(reason)
    if (failed + cut > 0) bad = rounds
  } finally {
    await davit.leave()
  }
  return {
    what: 'the engine stopped and killed under the edge, and started again',
    unit: 'restarts after which the app did not answer by itself',
    rounds,
    bad,
    figures: `it answered ${seconds(Math.min(...took))} to ${seconds(Math.max(...took))} after the engine did`,
  }
}

/** Davit may be faster, and remove a container that did not come back to make another. */
const unlessReplaced = (error: unknown) => {
  if (error instanceof EngineError && (error.status === 404 || error.status === 409)) return
  throw error
}

const seconds = (milliseconds: number) => `${(milliseconds / 1000).toFixed(1)} s`
