import { expect, onTestFinished, test } from 'bun:test'
import { gzipSync } from 'node:zlib'
import { ticks } from '../../src/live/ticks.ts'
import { serverId } from '../support/servers.ts'
import { until } from '../support/until.ts'
import { aFleet } from './fleet.ts'

const size = { servers: 50, apps: 200, replicas: 5 }
const all = size.apps * size.replicas

/** With all that Davit knows after its start. */
async function running() {
  const slow = new Set<string>()
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  const f = aFleet(size, {
    delay: async (id) => (slow.has(id) ? released : undefined),
  })
  const stop = new AbortController()
  const background = f.begin(stop.signal)
  onTestFinished(async () => {
    stop.abort()
    release()
    await Promise.allSettled(background)
  })
  const ids = f.engines.flatMap(({ containers }) => [...containers.keys()])
  await until(() => ids.every((id) => f.deps.observed.condition(id)))
  return { ...f, slow, stop, release }
}

test('50 servers with 1,000 instances: pages have all, ask no other server, wait for none, and are small', async () => {
  const f = await running()
  // each of the two that look at a start, and the announcements of all servers together
  expect(f.asked.get('inspectContainer')).toBeLessThan(10 * all)
  // what changed while Davit started is listed, and its start comes to its end
  await until(async () => {
    f.asked.clear()
    await f.root.page('/containers')
    return f.asked.size === 0
  })
  const [app] = f.live
  const environment = `/projects/${app!.project}/envs/${app!.environment}`
  for (const path of [
    ...['/dashboard', '/containers', '/containers?page=9', '/map', '/search?q=server7'],
    ...['/settings/servers', `/settings/servers/${serverId(7)}`, '/settings/prune'],
    ...[`/projects/${app!.project}`, environment, `${environment}/output`],
  ]) {
    const { status, text } = await f.root.page(path)
    expect({ path, status }).toEqual({ path, status: 200 })
    expect({ path, isLarge: gzipSync(text).length > 15_000 }).toEqual({ path, isLarge: false })
  }
  f.asked.delete('diskUse') // for the page of clean-ups, which doesn’t wait for it
  expect([...f.asked]).toEqual([])

  // lists and figures have all of them
  expect((await f.root.get('/containers/api')).json.containers).toHaveLength(all)
  const { items } = (await f.root.get('/settings/servers?limit=100')).json
  expect(items).toHaveLength(size.servers)
  expect(items.map(({ instances }: { instances: number }) => instances)).toEqual(
    Array(size.servers).fill(all / size.servers),
  )

  // a page shows what a server had that is slow to list its containers again
  const count = async () => (await f.root.get('/containers/api')).json.containers.length
  expect(await count()).toBe(all)
  const [, second] = f.engines
  f.slow.add(second!.serverId)
  const [first] = second!.containers.keys()
  second!.remove(first!, { force: true })
  const { signal } = f.stop
  const hear = (wake: () => void) => f.deps.observed.listen(signal, wake)
  const later = ticks(hear, { signal, interval: 0, longest: 10_000 })
  expect(await count()).toBe(all)
  f.release() // and is told when it has come
  await until(async () => (await later.next(), (await count()) === all - 1))
})
