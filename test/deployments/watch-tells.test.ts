import { expect, onTestFinished, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { events, instances } from '../../src/db/schema.ts'
import { updateDeployment } from '../../src/deployments/store.ts'
import { Watches } from '../../src/deployments/watch/watches.ts'
import { Failure } from '../../src/platform/errors.ts'
import { unlessAborted } from '../../src/platform/pause.ts'
import { serverId } from '../support/servers.ts'
import { until } from '../support/until.ts'
import { logOf } from './apps.ts'
import { watched } from './watching.ts'

type Scene = Awaited<ReturnType<typeof watched>>

const told = ({ t }: Pick<Scene, 't'>) =>
  t.db
    .select()
    .from(events)
    .all()
    .filter(({ kind }) => kind === 'deployment_reverted')

/** The version that is watched answers twice with 502, and crashes. */
async function wentBack() {
  const s = await watched()
  const failed = { status: 502, method: 'GET', path: '/pay?card=1', share: null, requests: 2 }
  s.t.deps.watched.add(s.project.environmentId, failed as never)
  s.crash()
  await until(() => s.stored().watch?.isTold === true)
  return s
}

test('what told against a version is in its JSON and log, and in what people are sent', async () => {
  const s = await wentBack()
  const requests = [{ status: 502, method: 'GET', path: '/pay', count: 2 }]
  expect(s.stored().watch).toMatchObject({ end: 'reverted', requests })
  const [event, ...more] = told(s)
  expect(more).toEqual([])
  for (const text of [event!.text, (await logOf(s.ada, s.second)).join('\n')])
    expect(text).toContain('GET /pay → 502')
})

/** The next process tells it, of which the last one has not. */
async function toldByNext({ t, stored }: Scene, begin = () => {}) {
  await t.watches.stop()
  expect(stored().watch).toMatchObject({ end: 'reverted', isTold: false })
  t.watched.loggedWithin = 0
  begin()
  const next = new Watches(t.deps)
  next.resume()
  await next.idle()
  expect(stored().watch!.isTold).toBe(true)
}

/** What the version that is watched wrote is stored once its containers are read, which takes until `read`. */
function writes(s: Scene, text: string) {
  const { t, second } = s
  const timestamp = new Date().toISOString().replace('Z', '000000Z')
  const read = Promise.withResolvers<void>()
  t.faults.logSnapshot = async function* (id) {
    if (id !== second.containerId) return
    await read.promise
    yield [{ text, stream: 'stderr', timestamp, ended: true }]
  }
  return read
}

/** Until Davit stops nothing is told, and no container is stopped, so none is removed. */
function tellNothing({ t }: Pick<Scene, 't'>) {
  t.watched.loggedWithin = 600_000
  t.faults.stopContainer = (_, { signal } = {}) =>
    unlessAborted(Promise.withResolvers<never>().promise, signal!)
}

function collectOutput({ t }: Pick<Scene, 't'>) {
  const abort = new AbortController()
  const running = t.collector.run({ signal: abort.signal })
  onTestFinished(async () => {
    abort.abort()
    await running
  })
}

test('what a version wrote is told by the next process, too, however late that reads it', async () => {
  const s = await watched()
  tellNothing(s)
  const read = writes(s, 'it crashes')
  s.crash()
  await until(() => s.stored().watch?.end === 'reverted')
  const { finish } = s.t.collector
  s.t.collector.finish = async (key) => {
    read.resolve()
    await finish.call(s.t.collector, key)
  }
  await toldByNext(s, () => collectOutput(s))
  expect(s.stored().watch!.lines).toEqual(['it crashes'])
  expect(told(s)).toHaveLength(1)
})

test('what a version wrote is told where the engine responds only later', async () => {
  const s = await watched()
  tellNothing(s)
  writes(s, 'it crashes').resolve()
  s.crash()
  await until(() => s.stored().watch?.end === 'reverted')
  const away = () => Promise.reject(new Failure('engine_unreachable', 'No answer.', 'Wait.'))
  await toldByNext(s, () => {
    Object.assign(s.t.faults, { inspectContainer: away, listContainers: away })
    let asked = 0
    s.t.faults.info = async (...of) => {
      if (++asked < 3) return away()
      for (const name of ['inspectContainer', 'listContainers', 'info'] as const)
        delete s.t.faults[name]
      return s.t.docker.info(...of)
    }
    collectOutput(s)
  })
  expect(s.stored().watch!.lines).toEqual(['it crashes'])
})

test('what a version wrote on another server is told by the next process, which reaches that later', async () => {
  const s = await watched()
  const { engines, db, docker } = s.t.deps
  tellNothing(s)
  const read = writes(s, 'it crashes')
  s.crash()
  await until(() => s.stored().watch?.end === 'reverted')
  const other = { serverId: serverId(2) }
  await toldByNext(s, () => {
    db.update(instances).set(other).where(eq(instances.releaseId, s.second.id)).run()
    engines.add({ ...docker, ...other })
    const { tried } = engines
    engines.tried = async (...of) => {
      setImmediate(() => engines.setAway(other, false))
      await tried.apply(engines, of)
      read.resolve()
    }
    collectOutput(s)
  })
  expect(s.stored().watch!.lines).toEqual(['it crashes'])
})

test('its last lines are told, however much the version before writes meanwhile', async () => {
  const s = await watched()
  const { first, second, project, t } = s
  const write = ({ id, containerId }: typeof first, text: string, count: number) => {
    const origin = { deploymentId: id, container: containerId, process: 'web', replica: null }
    const line = { time: Date.now(), stream: 'stdout' as const, text, origin }
    const log = { sourceId: project.environmentId, logId: '' }
    t.logs.write(log, Array<typeof line>(count).fill(line))
  }
  write(second, 'it crashes', 1)
  write(first, 'all is well', 1500)
  s.crash()
  await until(() => s.stored().watch?.isTold === true)
  expect(s.stored().watch!.lines).toEqual(['it crashes'])
})

test('a kill right after going back loses nothing: the next process tells it, once', async () => {
  const s = await wentBack()
  await s.t.watches.stop()
  s.t.db.delete(events).run()
  updateDeployment(s.t.db, s.second.id, { watch: { ...s.stored().watch!, isTold: false } })
  const next = new Watches(s.t.deps)
  next.resume()
  await next.idle()
  expect(s.stored().watch).toMatchObject({ isTold: true, requests: [{ count: 2 }] })
  expect(told(s)).toHaveLength(1)
  next.resume()
  await next.idle()
  expect(told(s)).toHaveLength(1)
})

test('what the version before answers after going back isn’t told as the other one’s', async () => {
  const s = await watched()
  const { watched: counting } = s.t.deps
  const { environmentId } = s.project
  const isCounted = (begun: number) =>
    counting.timeOf(environmentId, { time: begun + 1000, seconds: 1, share: null }) !== null
  const { since } = s.stored().watch!
  const counted: boolean[] = []
  const { end } = counting
  counting.end = (id) => {
    counted.push(...[since - 1, since, Date.now()].map(isCounted))
    end.call(counting, id)
  }
  expect(isCounted(Date.now())).toBe(true)
  s.crash()
  await s.t.watches.idle()
  expect(s.stored().watch?.end).toBe('reverted')
  expect(counted).toEqual([false, true, false])
})
