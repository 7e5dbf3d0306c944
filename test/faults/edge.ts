import type { DavitClient } from '../demo/client.ts'
import { inWords, isWhole, startLoad } from '../load/load.ts'
import type { Load } from '../load/load.ts'
import { aSite, anEdgeOfItsOwn } from '../load/site.ts'
import type { Site } from '../load/site.ts'
import type { Kind } from '../load/tally.ts'
import { anInstallation } from '../support/installation.ts'
import type { Installation, Launch } from '../support/installation.ts'
import type { FaultReport } from './report.ts'

export type Rounds = Launch & { rounds: number }

export type Scene = {
  davit: Installation
  site: Site
  load: Load
  /** Another one after each start of Davit. */
  client: DavitClient
}

type Scenario = {
  what: string
  unit: string
  replicas?: number
  /** Ways in which no one visits meanwhile. */
  without?: Kind[]
  prepare?: (scene: Omit<Scene, 'load'>) => Promise<unknown>
  /** Whether visitors may notice: how much they do is a figure, and no fault. */
  mayFail?: boolean
  /** What went wrong beside what visitors have noticed. */
  round: (scene: Scene, number: number) => Promise<string[]>
  /** Measured beside it. */
  figures?: () => string
}

/** Does it again and again with a Davit and a Caddy of its own, under steady load. */
export async function underLoad(
  { rounds, ...launch }: Rounds,
  { what, unit, replicas = 1, without = [], mayFail = false, prepare, round, figures }: Scenario,
): Promise<FaultReport> {
  const { settings, ...ports } = await anEdgeOfItsOwn()
  const davit = anInstallation(launch, { ...settings, DAVIT_SETTLE_TIME: '1' })
  try {
    const { client } = await davit.start()
    const site = await aSite(davit, { client, ports, replicas })
    const scene = { davit, site, client }
    await prepare?.(scene)
    using load = await startLoad(site.place, { versions: [site.live], without })
    const all = Object.assign(scene, { load })
    const broken: string[] = []
    let bad = 0
    let before = 0
    for (let number = 0; number < rounds; number++) {
      const faults = await round(all, number)
      const { failed, cut } = await load.look()
      if (faults.length > 0 || (!mayFail && failed + cut > before)) bad++
      before = failed + cut
      broken.push(...faults)
    }
    const tally = await load.stop()
    if (!mayFail && !isWhole(tally)) bad = Math.max(bad, 1)
    for (const reason of [...broken, ...tally.reasons]) console.error(reason)
    const more = figures ? [figures()] : []
    const reasons = [...broken, ...(mayFail ? [] : tally.reasons)].slice(0, 3)
    return { what, unit, rounds, bad, figures: [inWords(tally), ...more, ...reasons].join('; ') }
  } finally {
    await davit.leave()
  }
}
