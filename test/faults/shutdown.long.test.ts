import { expect, onTestFinished, test } from 'bun:test'
import { aBuild, anApp } from '../deployments/apps.ts'
import { pathOf } from '../deployments/events.ts'
import { anInstallation } from '../support/installation.ts'
import { halfSent } from './half-sent.ts'
import { aProject } from './project.ts'
import { watch } from './watch.ts'
import type { Deployment } from './watch.ts'

const many = <Value>(count: number, make: (at: number) => Promise<Value>) =>
  Promise.all(Array.from({ length: count }, (_, at) => make(at)))

test('a stop answers what is under way, keeps the queue and tells viewers to come again', async () => {
  const davit = anInstallation({}, { DAVIT_BUILD_CONCURRENCY: '1' })
  onTestFinished(() => davit.leave())
  const { pid, url, client } = await davit.start()
  const app = aBuild('sleep 2', 'CMD ["httpd", "-f", "-p", "3000"]')
  const first = await aProject(davit, app)
  const others = await many(10, (at) => aProject(davit, anApp('site'), { name: `site-${at}` }))
  const building = await first.trigger()
  await building.hears('RUN sleep')
  const deployments = [building, ...(await Promise.all(others.map((one) => one.trigger())))].map(
    ({ deployment }) => deployment,
  )
  const viewers = await many(20, async () => {
    const body = await client.stream(`${pathOf(building.deployment)}/logs`, null)
    return { text: new Response(body).text() }
  })
  const requests = await many(20, () => halfSent({ url }))
  await client.get('/health') // by now those are in work

  process.kill(pid, 'SIGTERM')
  for (const { text } of viewers) {
    expect(await text).toEndWith('retry: 1000\n\n')
    expect(await text).not.toContain('event: done')
  }
  const statuses = await Promise.all(requests.map(({ finish }) => finish()))
  expect(new Set(statuses)).toEqual(new Set(['401']))
  expect(await davit.stop()).toBe(0)
  const queue = davit.rows<{ id: string }>("SELECT id FROM deployments WHERE status = 'pending'")
  expect(queue.map(({ id }) => id).toSorted()).toEqual(deployments.map(({ id }) => id).toSorted())
  // a stop counts as no attempt, unlike a crash
  expect(davit.rows('SELECT max(attempt) AS attempts FROM jobs')).toEqual([{ attempts: 0 }])
  expect(davit.errors()).toEqual([])

  await davit.start()
  await Promise.all(
    deployments.slice(1).map((key) => davit.client.post(`${pathOf(key)}/cancel`).catch(() => {})),
  )
  await watch(davit.client, building.deployment).ended
  const { status } = await davit.client.get<Deployment>(pathOf(building.deployment))
  expect(status).toBe('running')
}, 180_000)
