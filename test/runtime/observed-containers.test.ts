import { expect, test } from 'bun:test'
import type { Container, EngineEvent, EngineFeed } from '../../src/docker/index.ts'
import { Engines, resync } from '../../src/docker/index.ts'
import { Hub } from '../../src/live/hub.ts'
import { firstServer } from '../../src/platform/root.ts'
import { ObservedContainers } from '../../src/runtime/observed-containers.ts'
import { simulatedApp } from '../support/app.ts'
import { until } from '../support/until.ts'

const id = 'c1'
const serverId = firstServer
const container = (exitCode: number) => ({ id, serverId, exitCode }) as Container

/** Each inspection waits until it is answered. */
function anEngine() {
  const asked: ((seen: Container | null) => void)[] = []
  const docker = simulatedApp().docker
  docker.listContainers = async () => []
  docker.inspectContainer = () => new Promise((resolve) => void asked.push(resolve))
  return { asked, observed: new ObservedContainers(new Engines([docker])) }
}

test('what was asked first and comes last isn’t what is known', async () => {
  const { asked, observed } = anEngine()
  const looks = [observed.inspect(id), observed.inspect(id)]
  asked[1]!(container(2))
  await looks[1]
  asked[0]!(container(1))
  await looks[0]
  expect(observed.condition(id)?.exitCode).toBe(2)
})

test('a removed container isn’t known again by a look that was asked before', async () => {
  const { asked, observed } = anEngine()
  const looks = [observed.inspect(id), observed.inspect(id)]
  asked[1]!(null)
  expect(await looks[1]).toBeNull()
  asked[0]!(container(1))
  await looks[0]
  expect(observed.condition(id)).toBeNull()
})

test('a container that changes while it is inspected is inspected again', async () => {
  const { asked, observed } = anEngine()
  const hub = new Hub<EngineEvent | typeof resync>()
  const abort = new AbortController()
  const feed = { listen: (signal: AbortSignal) => hub.subscribe('', signal) } as EngineFeed
  const heard = Promise.withResolvers<void>()
  const running = observed.run(feed, { signal: abort.signal, onEvent: () => heard.resolve() })
  const look = observed.inspect(id)
  const event = { serverId, type: 'container', action: 'start', id, attributes: {} }
  hub.publish('', { ...event, time: new Date() })
  await heard.promise
  asked[0]!(container(1))
  await until(() => asked.length === 3) // one of the look, one of the event
  for (const answer of asked.slice(1)) answer(container(2))
  expect((await look)?.exitCode).toBe(2)
  abort.abort()
  await running
})

test('after a container was removed nothing of it is kept, also not where it ran', async () => {
  const [first, second] = [simulatedApp().docker, { ...simulatedApp().docker, serverId: 'second' }]
  const there = { ...container(0), serverId: 'second' } as Container
  let found: Container | null = there
  for (const docker of [first, second]) docker.listContainers = async () => []
  first.inspectContainer = async () => null
  second.inspectContainer = async () => found
  const observed = new ObservedContainers(new Engines([first, second]))
  const hub = new Hub<EngineEvent | typeof resync>()
  const abort = new AbortController()
  const feed = { listen: (signal: AbortSignal) => hub.subscribe('', signal) } as EngineFeed
  let heard = 0
  const running = observed.run(feed, { signal: abort.signal, onEvent: () => void heard++ })
  const publish = (action: string) => {
    const event = { serverId: 'second', type: 'container', action, id, attributes: {} }
    hub.publish('', { ...event, time: new Date() })
  }
  publish('start')
  await until(() => heard === 1)
  expect((await observed.engineOf(id)).serverId).toBe('second')
  found = null
  publish('destroy')
  await until(async () => (await observed.engineOf(id)).serverId === first.serverId)
  abort.abort()
  await running
})

test('one that is gone, and one of an unknown server, don’t wait for one that is away', async () => {
  const [first, second] = [simulatedApp().docker, { ...simulatedApp().docker, serverId: 'second' }]
  let found: Container | null = container(0)
  first.inspectContainer = async (asked) => (asked === id ? found : null)
  for (const docker of [first, second]) docker.listContainers = async () => []
  second.inspectContainer = async () => null
  const engines = new Engines([first, second])
  const observed = new ObservedContainers(engines)
  const hub = new Hub<EngineEvent | typeof resync>()
  const abort = new AbortController()
  const feed = { listen: (signal: AbortSignal) => hub.subscribe('', signal) } as EngineFeed
  const running = observed.run(feed, { signal: abort.signal, onEvent: () => {} })
  const followed = observed.follow(id, abort.signal)[Symbol.asyncIterator]()
  expect((await followed.next()).value).toEqual(container(0))
  engines.setAway({ serverId: 'second' }, true)
  const unknown = observed.follow('c2', abort.signal)[Symbol.asyncIterator]()
  expect((await unknown.next()).value).toBe('away')

  found = null
  const changed = Promise.withResolvers<void>()
  observed.listen(abort.signal, () => changed.resolve())
  hub.publish('', resync)
  expect((await followed.next()).value).toBeNull()
  await changed.promise
  abort.abort()
  await running
})
