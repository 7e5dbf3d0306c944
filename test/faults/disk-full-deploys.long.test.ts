import { expect, test } from 'bun:test'
import { rm } from 'node:fs/promises'
import { waitingForSpace } from '../../src/db/failures.ts'
import { waitingForResponse } from '../../src/runtime/steps/gate.ts'
import { aBuild, aCommand, anApp } from '../deployments/apps.ts'
import { pathOf } from '../deployments/events.ts'
import { startLoad } from '../load/load.ts'
import { aSite, anEdgeOfItsOwn, answers, ended } from '../load/site.ts'
import { anInstallation } from '../support/installation.ts'
import { until } from '../support/until.ts'
import { startPrivateEngine } from './private-engine.ts'
import { answerOf, aProject } from './project.ts'
import type { Ended } from './project.ts'
import { aSmallDisk, fill, takeAll } from './small-disk.ts'
import { watch } from './watch.ts'

test('a deployment whose disk fills up ends when that can be stored, and its log has a gap', async () => {
  await using disk = await aSmallDisk()
  const davit = anInstallation({ dataDir: disk.dataDir })
  try {
    const { client } = await davit.start()
    const project = await aProject(davit, aBuild('echo ear""ly; sleep 1; seq 10000'))
    const viewer = await project.trigger()
    const deployment = () => client.get<Ended>(pathOf(viewer.deployment))
    await viewer.hears('early')
    await fill(client, disk)
    await until(() => davit.journal().includes(waitingForSpace))
    expect((await deployment()).status).toBe('building')
    await rm(disk.others)
    await until(async () => (await deployment()).error !== null)
    expect(await deployment()).toMatchObject({ status: 'failed', error: { code: 'disk_full' } })
    const log = davit.lines(viewer.deployment)
    expect(log.map(({ seq }) => seq)).toEqual(log.map((_, at) => at + 1))
    expect(log.map(({ text }) => text).join('\n')).toMatch(/\d+ lines are missing here/)
  } finally {
    await davit.leave()
  }
})

test('a deployment that is cancelled because the disk is too full to store that it runs lets the old one serve', async () => {
  await using disk = await aSmallDisk()
  const davit = anInstallation({ dataDir: disk.dataDir })
  try {
    const { client } = await davit.start()
    const project = await aProject(davit, anApp('first'))
    const first = await project.deploy()
    const script = 'mkdir /www; echo -n second >/www/index.html; sleep 6; httpd -f -p 8080 -h /www'
    project.commit(aCommand(script))
    const viewer = await project.trigger()
    const path = pathOf(viewer.deployment)
    await viewer.hears(waitingForResponse)
    await fill(client, disk)
    await until(() => davit.journal().includes(waitingForSpace))
    expect(await answerOf(first.url)).toBe('second')
    expect((await client.get<Ended>(path)).status).toBe('deploying')

    await client.post(`${path}/cancel`).catch(() => {}) // that it was cancelled can't be stored
    await until(async () => (await answerOf(first.url)) === 'first')
    await rm(disk.others)
    await until(async () => (await client.get<Ended>(path)).status === 'cancelled')
    expect((await client.get<Ended>(pathOf(first))).status).toBe('running')
    const all = { labels: davit.labels(), all: true }
    expect(await davit.docker.listContainers(all)).toHaveLength(1)
  } finally {
    await davit.leave()
  }
})

/** The slots of the edge lie on that disk, too. */
test('no visitor notices that the disk is full when the switch comes, which comes when there is room', async () => {
  await using disk = await aSmallDisk()
  const { settings, ...ports } = await anEdgeOfItsOwn()
  const davit = anInstallation({ dataDir: disk.dataDir }, settings)
  try {
    const { client } = await davit.start()
    const site = await aSite(davit, { ports })
    using load = await startLoad(site.place, { versions: [site.live] })
    const next = site.commit()
    await load.allow(site.live, next)
    const deployment = await site.trigger(client)
    await watch(client, deployment).hears(waitingForResponse)
    const filling = setInterval(() => takeAll(disk.others), 20) // again, because Davit gives up what it has
    await until(() => davit.journal().includes(waitingForSpace))
    await Bun.sleep(1000)
    clearInterval(filling)
    await rm(disk.others)
    expect((await ended(client, deployment)).status).toBe('running')
    await until(() => answers(site.place, { version: next }))
    await load.allow(next)
    await Bun.sleep(2000)
    const { failed, cut, reasons } = await load.stop()
    expect({ failed, cut, reasons }).toEqual({ failed: 0, cut: 0, reasons: [] })
  } finally {
    await davit.leave()
  }
}, 300_000)

test('a build that fills the disk of the engine fails by that, and the next one has room', async () => {
  await using engine = await startPrivateEngine({ diskMb: 96 })
  const davit = anInstallation({}, { DOCKER_HOST: engine.host })
  try {
    await davit.start()
    // without a port, which would be published where the engine is
    const big = aBuild('dd if=/dev/zero of=/x bs=1M count=120')
    const failed = await (await aProject(davit, big, { name: 'big', port: 0 })).deploy()
    expect(failed).toMatchObject({ status: 'failed', error: { code: 'disk_full' } })
    const next = await (await aProject(davit, anApp('small'), { name: 'small', port: 0 })).deploy()
    expect(next).toMatchObject({ status: 'running', error: null })
  } finally {
    await davit.leave()
  }
})
