import { expect } from 'bun:test'
import type { DavitClient } from '../demo/client.ts'
import { startLoad } from '../load/load.ts'
import type { Load } from '../load/load.ts'
import { aSite, anEdgeOfItsOwn, ended } from '../load/site.ts'
import type { Site } from '../load/site.ts'
import type { Kind } from '../load/tally.ts'
import { askEngine } from '../support/machine/engine.ts'
import { anInstallation } from '../support/installation.ts'
import type { Installation } from '../support/installation.ts'

export type Scene = { davit: Installation; site: Site; load: Load; client: DavitClient }

type Scenario = {
  rounds: number
  replicas?: number
  /** Ways in which no one visits meanwhile. */
  without?: Kind[]
  prepare?: (scene: Omit<Scene, 'load'>) => Promise<unknown>
  /** True where visitors may notice. */
  mayFail?: boolean
  round: (scene: Scene, number: number) => Promise<unknown>
}

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
  const davit = anInstallation({}, { ...settings, DAVIT_SETTLE_TIME: '1' })
  try {
    const { client } = await davit.start()
    const site = await aSite(davit, { ports, replicas })
    await prepare?.({ davit, site, client })
    using load = await startLoad(site.place, { versions: [site.live], without })
    for (let number = 0; number < rounds; number++)
      await round({ davit, site, client, load }, number)
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
