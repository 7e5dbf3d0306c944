import { expect, test } from 'bun:test'
import { connectDocker, EngineError } from '../../src/docker/index.ts'
import { startLoad } from '../load/load.ts'
import { aSite, anEdgeOfItsOwn, answers } from '../load/site.ts'
import { bunImage } from '../support/images/bun.ts'
import { caddyImage } from '../support/images/edge.ts'
import { anInstallation } from '../support/installation.ts'
import { run } from '../support/machine/command.ts'
import { until } from '../support/until.ts'
import { startPrivateEngine } from './private-engine.ts'

/** Where its networks come from; the machine's own engine has others. */
const pool = '10.214.0.0/16'

test('Caddy and the app come back with the engine, whether it is stopped or killed', async () => {
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
  const davit = anInstallation({}, env)
  const docker = connectDocker({ host: engine.host })
  try {
    await davit.start()
    const site = await aSite(davit, { ports, address: engine.address })
    for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
      await engine.stop(signal)
      await engine.start()
      // an engine that was killed ends what runs when it comes back, and may leave it so
      const made = await docker.listContainers({ labels: davit.labels(), all: true })
      for (const { id, state } of made)
        if (state !== 'running') await docker.startContainer(id).catch(unlessReplaced)
      await until(() => answers(site.place, { version: site.live }), 60)
    }
    // what it serves then is whole
    const load = await startLoad(site.place, { versions: [site.live] })
    await Bun.sleep(3000)
    const { failed, cut, reasons } = await load.stop()
    expect({ failed, cut, reasons }).toEqual({ failed: 0, cut: 0, reasons: [] })
  } finally {
    await davit.leave()
  }
}, 300_000)

/** Davit may be faster, and remove a container that did not come back to make another. */
const unlessReplaced = (error: unknown) => {
  if (error instanceof EngineError && (error.status === 404 || error.status === 409)) return
  throw error
}
