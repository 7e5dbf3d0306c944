import { rm } from 'node:fs/promises'
import { waitingForSpace } from '../../src/db/failures.ts'
import { startLoad } from '../load/load.ts'
import { aSite, anEdgeOfItsOwn, answers, ended } from '../load/site.ts'
import { anInstallation } from '../support/installation.ts'
import { until } from '../support/until.ts'
import { aSmallDisk, takeAll } from './disk-full.ts'
import { watch } from './watch.ts'

/**
 * The disk with Davit's data, the slots among them, fills up while a deploy is about to switch. Answers
 * what visitors noticed, and which version serves at the end.
 */
export async function switchOnFullDisk() {
  await using disk = await aSmallDisk()
  const { settings, ...ports } = await anEdgeOfItsOwn()
  const davit = anInstallation({ dataDir: disk.dataDir }, settings)
  try {
    const { client } = await davit.start()
    const site = await aSite(davit, { client, ports })
    using load = await startLoad(site.place, { versions: [site.live] })
    const next = site.commit()
    await load.allow(site.live, next)
    const deployment = await site.trigger(client)
    await watch(client, deployment).hears('Waiting for')
    const filling = { isOver: false }
    const filled = fillUp(disk.others, filling)
    await until(() => davit.journal().includes(waitingForSpace))
    await Bun.sleep(1000)
    filling.isOver = true
    await filled
    await rm(disk.others)
    const { status } = await ended(client, deployment)
    await until(() => answers(site.place, { version: next }))
    await load.allow(next)
    await Bun.sleep(2000)
    return { status, ...(await load.stop()) }
  } finally {
    await davit.leave()
  }
}

/** Again and again, because Davit gives up what it has. */
async function fillUp(path: string, filling: { isOver: boolean }) {
  while (!filling.isOver) {
    takeAll(path)
    await Bun.sleep(20)
  }
}
