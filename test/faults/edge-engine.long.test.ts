import { expect, test } from 'bun:test'
import { EngineError } from '../../src/docker/index.ts'
import { faultsOf } from '../kills/left-behind.ts'
import { startLoad, watchRounds } from '../load/load.ts'
import { aSite, anEdgeOfItsOwn, answers, ended } from '../load/site.ts'
import type { Site } from '../load/site.ts'
import { pathOf } from '../deployments/events.ts'
import { bunImage } from '../support/images/bun.ts'
import { caddyImage } from '../support/images/edge.ts'
import { anInstallation } from '../support/installation.ts'
import type { Installation } from '../support/installation.ts'
import { run } from '../support/machine/command.ts'
import { comesTrue, until } from '../support/until.ts'
import { startPrivateEngine } from './private-engine.ts'

/** Where its networks come from; the machine's own engine has others. */
const pool = '10.214.0.0/16'

type Scene = {
  davit: Installation
  site: Site
  /** Ends the engine and starts it again, and what it left down. */
  restart: (signal: 'SIGTERM' | 'SIGKILL') => Promise<void>
}

/** With a Davit and a Caddy on an engine of their own. */
async function onPrivateEngine(work: (scene: Scene) => Promise<void>) {
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
  try {
    await davit.start()
    const site = await aSite(davit, { ports, address: engine.address })
    await work({
      ...{ davit, site },
      async restart(signal) {
        await engine.stop(signal)
        await engine.start()
        // an engine that was killed ends what runs when it comes back, and may leave it so
        const made = await davit.docker.listContainers({ labels: davit.labels(), all: true })
        for (const { id, state } of made)
          if (state !== 'running') await davit.docker.startContainer(id).catch(unlessReplaced)
      },
    })
  } finally {
    await davit.leave()
  }
}

test(
  'Caddy and the app come back with the engine, whether it is stopped or killed',
  () =>
    onPrivateEngine(async ({ site, restart }) => {
      for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
        await restart(signal)
        await until(() => answers(site.place, { version: site.live }), 60)
      }
      // what it serves then is whole
      const load = await startLoad(site.place, { versions: [site.live] })
      await Bun.sleep(3000)
      const { failed, cut, reasons } = await load.stop()
      expect({ failed, cut, reasons }).toEqual({ failed: 0, cut: 0, reasons: [] })
    }),
  300_000,
)

/** What a visitor must never get, even while the engine is away. */
const isWrong = /answers, not|another (body|digest)|status 500/

test(
  'an engine that is restarted in a watch under load leaves the new version or the one before, whole',
  () =>
    onPrivateEngine(async ({ davit, site, restart }) => {
      await davit.client.put(site.path, { watchSeconds: 20 })
      for (let round = 0; round < watchRounds; round++) {
        const signal = round % 2 === 0 ? 'SIGTERM' : 'SIGKILL'
        const next = site.commit()
        using load = await startLoad(site.place, { versions: [site.live, next] })
        const deployment = await site.trigger(davit.client)
        await ended(davit.client, deployment)
        await restart(signal)
        type Watched = { status: string; watchUntil: string | null; watch: { end: string } }
        let now!: Watched
        await until(async () => {
          now = await davit.client.get<Watched>(pathOf(deployment))
          return now.watchUntil === null
        }, 90)
        expect(
          [
            ['running', 'over'],
            ['failed', 'reverted'],
          ],
          signal,
        ).toContainEqual([now.status, now.watch.end])
        if (now.status === 'running') site.live = next
        await until(() => answers(site.place, { version: site.live }), 60)
        const { reasons } = await load.stop()
        expect(reasons.filter((reason) => isWrong.test(reason))).toEqual([])
        let faults: string[] = []
        await comesTrue(60, async () => (faults = await faultsOf(davit)).length === 0)
        expect(faults).toEqual([])
      }
    }),
  120_000 + watchRounds * 60_000,
)

/** Davit may be faster, and remove a container that did not come back to make another. */
const unlessReplaced = (error: unknown) => {
  if (error instanceof EngineError && (error.status === 404 || error.status === 409)) return
  throw error
}
