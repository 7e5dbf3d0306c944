import { expect, onTestFinished } from 'bun:test'
import { startLoad } from '../load/load.ts'
import { aSite, anEdgeOfItsOwn, ended } from '../load/site.ts'
import type { Deployment } from '../faults/watch.ts'
import { stored } from './harness.ts'
import type { Operation } from './harness.ts'

/** Queries that find a row at a moment of a deployment. */
const moments = {
  building: "SELECT 1 FROM deployments WHERE status = 'building'",
  deploying: "SELECT 1 FROM deployments WHERE status = 'deploying'",
  starting: "SELECT 1 FROM instances WHERE state = 'starting'",
  draining: "SELECT 1 FROM instances WHERE state = 'draining'",
}

/** No visitor may notice; the streams of each last longer than Davit is away. */
export const deploymentByEdge: Operation = async (start) => {
  const { settings, ...ports } = await anEdgeOfItsOwn()
  const davit = await start(settings)
  const site = await aSite(davit, { ports })
  const load = await startLoad(site.place, { versions: [site.live], ticks: 60 })
  onTestFinished(() => load[Symbol.dispose]())
  let next: string
  let deployment: Deployment
  const moment = (name: string, comes: () => Promise<unknown>) => ({
    name,
    async begin() {
      next = site.commit()
      await load.allow(site.live, next)
      deployment = await site.trigger(davit.client)
      await comes()
    },
    /** The edge serves without it. */
    meanwhile: () => Bun.sleep(1000),
    async end() {
      const { status, error } = await ended(davit.client, deployment)
      expect([status, error], name).toEqual(['running', null])
      site.live = next
      await load.allow(next)
    },
  })
  return {
    moments: [
      ...Object.entries(moments).map(([name, sql]) =>
        moment(name, () => stored(davit, sql, { within: 150 })),
      ),
      moment('it has ended', () => ended(davit.client, deployment)),
    ],
    async faults() {
      const { failed, cut, reasons } = await load.look()
      return failed + cut > 0 ? reasons : []
    },
  }
}
