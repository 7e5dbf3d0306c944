import { expect } from 'bun:test'
import { join } from 'node:path'
import { writeFileAtomically } from '../../src/platform/atomic-write.ts'
import { aFolder } from '../support/folder.ts'
import type { DavitClient } from '../demo/client.ts'
import { startLoad } from '../load/load.ts'
import type { Load } from '../load/load.ts'
import { aSite, anEdgeOfItsOwn, ended } from '../load/site.ts'
import type { Site } from '../load/site.ts'
import type { Kind } from '../load/tally.ts'
import { askEngine } from '../support/machine/engine.ts'
import { anInstallation } from '../support/installation.ts'
import type { Installation } from '../support/installation.ts'

export type Scene = {
  davit: Installation
  site: Site
  load: Load
  client: DavitClient
  /** Puts Davit’s clock forward by so many milliseconds; 0 puts it right. */
  setClock: (deviation: number) => void
}

type Scenario = {
  rounds: number
  replicas?: number
  /** Ways in which no one visits meanwhile. */
  without?: Kind[]
  prepare?: (scene: Omit<Scene, 'load' | 'setClock'>) => Promise<unknown>
  /** True where visitors may notice. */
  mayFail?: boolean
  round: (scene: Scene, number: number) => Promise<unknown>
}

const settableClock = join(import.meta.dir, '../support/settable-clock.ts')

/** Does it again and again with a Davit and a Caddy of its own, under steady load that no one may notice. */
export async function underLoad({
  rounds,
  replicas = 1,
  without = [],
  mayFail = false,
  prepare,
  round,
}: Scenario) {
  const { settings, ...ports } = await anEdgeOfItsOwn()
  const clock = join(aFolder(), 'clock')
  const setClock = (deviation: number) => writeFileAtomically(clock, String(deviation))
  setClock(0)
  const command = [process.execPath, '--preload', settableClock, 'src/main.ts', 'serve']
  const env = { ...settings, DAVIT_SETTLE_TIME: '1', TEST_CLOCK: clock }
  const davit = anInstallation({ command }, env)
  try {
    const { client } = await davit.start()
    const site = await aSite(davit, { ports, replicas })
    await prepare?.({ davit, site, client })
    using load = await startLoad(site.place, { versions: [site.live], without })
    for (let number = 0; number < rounds; number++)
      await round({ davit, site, client, load, setClock }, number)
    const { failed, cut, reasons } = await load.stop()
    if (!mayFail) expect({ failed, cut, reasons }).toEqual({ failed: 0, cut: 0, reasons: [] })
  } finally {
    await davit.leave()
  }
}

/** Commits and deploys the next version, which must run then, and allows no other. */
export async function deployNext({ client, site, load }: Scene) {
  const next = site.commit()
  await load.allow(site.live, next)
  expect((await ended(client, await site.trigger(client))).status).toBe('running')
  site.live = next
  await load.allow(next)
}

export async function stateOf(id: string) {
  const answer = await askEngine(`/containers/${id}/json`)
  return ((await answer.json()) as { State: { Pid: number } }).State
}

/** By its process, so that the engine takes it for a crash; returns the id that the process had. */
export async function killContainer(id: string) {
  const { Pid } = await stateOf(id)
  process.kill(Pid, 'SIGKILL')
  return Pid
}
