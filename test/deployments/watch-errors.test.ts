import { expect, spyOn, test } from 'bun:test'
import { join } from 'node:path'
import { insertDomain } from '../../src/addresses/store.ts'
import { Watches } from '../../src/deployments/watch/watches.ts'
import { getDeployment } from '../../src/environments/store.ts'
import { neverAborted } from '../../src/platform/pause.ts'
import { TrafficCollector } from '../../src/traffic/collect.ts'
import { WatchedTraffic } from '../../src/traffic/watched.ts'
import { withAda } from '../support/app.ts'
import { until } from '../support/until.ts'
import { AccessLog, aLine } from '../traffic/access.ts'
import { anApp, aProject } from './apps.ts'
import { appBehindEdge } from './simulated-edge.ts'

/** A live version; those after it go back for errors, within 3 s, or for this. */
async function scene({ watchSeconds = 3, rollbackOn = 'errors' } = {}) {
  const { t, ada } = withAda(appBehindEdge({ watchSeconds }))
  const project = await aProject(t, ada, anApp('first'), { drainSeconds: 0 })
  insertDomain(t.db, { environmentId: project.environmentId }, { host: 'app.test', path: '/' }, t)
  await project.configure({ rollbackOn: [rollbackOn] })
  await project.deploy()
  await t.jobs.idle()
  const log = new AccessLog(join(t.dataDir, 'edge'))
  return { t, project, log, collector: new TrafficCollector(t.deps) }
}

test.each([
  [16, 'over'], // 18 lines, of which the last two stand for 22 requests
  [18, 'reverted'],
])('with %i failed requests beside two lines of many the watch is %s', async (count, end) => {
  const { t, project, log, collector } = await scene()
  const { id } = await project.deployFiles(anApp('second'))
  const lines = (host: string, length: number, fields: object) =>
    Array.from({ length }, () => aLine(host, { duration: 0, ...fields }))
  log.write(
    ...lines('other.test', 1000, { level: 'info' }),
    ...lines('app.test', 2, { level: 'info' }),
    ...lines('app.test', count, { status: 500 }),
  )
  while (await collector.collect());
  await t.watches.idle()
  expect(getDeployment(t.db, id)!.watch).toMatchObject({
    end,
    figures: { after: { requests: 22 + count, errors: count } },
  })
})

test('a version that went back for its errors doesn’t excuse those of the next one', async () => {
  const { t, project, log, collector } = await scene()
  for (const name of ['second', 'third']) {
    const { id } = await project.deployFiles(anApp(name))
    log.write(...Array.from({ length: 30 }, () => aLine('app.test', { duration: 0, status: 500 })))
    while (await collector.collect());
    await t.watches.idle()
    expect(getDeployment(t.db, id)!.watch).toMatchObject({
      end: 'reverted',
      figures: { before: { requests: 0, errors: 0 }, after: { requests: 30, errors: 30 } },
    })
  }
})

/** The next process, which reads the log of the edge once it is about to tell what led back. */
async function resumed({ t }: Pick<Awaited<ReturnType<typeof scene>>, 't'>) {
  const watched = Object.assign(new WatchedTraffic(), { loggedWithin: 0 })
  const counted = spyOn(watched, 'countedUntil')
  const next = new Watches({ ...t.deps, watched })
  next.resume()
  await until(() => counted.mock.calls.length > 0)
  const collector = new TrafficCollector({ ...t.deps, watched })
  while (await collector.collect());
  await next.idle()
}

const failed = (count: number, fields = {}) =>
  Array.from({ length: count }, () => aLine('app.test', { duration: 0, status: 500, ...fields }))

const sixFailed = {
  ...{ end: 'reverted', isTold: true },
  requests: [{ status: 500, method: 'GET', path: '/', count: 6 }],
  figures: { after: { requests: 6, errors: 6 } },
}

test('what failed while Davit was down is told, however late the next one reads the log', async () => {
  const { t, project, log } = await scene({ watchSeconds: 600, rollbackOn: 'crash' })
  const { id, containerId } = await project.deployFiles(anApp('second'))
  await t.watches.stop()
  log.write(...failed(6))
  t.engine.kill(containerId)
  await resumed({ t })
  expect(getDeployment(t.db, id)!.watch).toMatchObject(sixFailed)
})

test('what the version before answers since the decision isn’t the other one’s, also where Davit ends before that is carried out', async () => {
  const { t, project, log } = await scene({ watchSeconds: 600, rollbackOn: 'crash' })
  const { id, environmentId, containerId } = await project.deployFiles(anApp('second'))
  log.write(...failed(6))
  const work = Promise.withResolvers<void>()
  const busy = t.locks.run({ id: environmentId }, neverAborted(), () => work.promise)
  t.engine.kill(containerId)
  await until(() => getDeployment(t.db, id)!.watch!.verdict !== null)
  await t.watches.stop()
  log.write(...failed(3, { ts: Date.now() / 1000 + 1 }))
  work.resolve()
  await busy
  const { now } = Date
  const later = spyOn(Date, 'now').mockImplementation(() => now() + 5000)
  await resumed({ t }).finally(() => later.mockRestore())
  expect(getDeployment(t.db, id)!.watch).toMatchObject(sixFailed)
})
