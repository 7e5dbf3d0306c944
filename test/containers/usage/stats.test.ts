import { expect, test } from 'bun:test'
import { Sampler } from '../../../src/containers/usage/sampler.ts'
import { Failure } from '../../../src/platform/errors.ts'
import { readEvents } from '../../demo/events.ts'
import { testApp } from '../../support/app.ts'
import type { TestApp } from '../../support/app.ts'
import type { TestClient } from '../../support/client.ts'
import { anOwn, aRunning, aStranger, listen } from '../engine.ts'
import { givenReadings } from './readings.ts'

type Event = { name: string; data: string }

/** The events of a stream, until the loop is left. */
async function* watch(client: TestClient, id: string, query = ''): AsyncGenerator<Event> {
  const response = await client.send(`/containers/${id}/stats${query}`)
  expect(response.headers.get('Content-Type')).toStartWith('text/event-stream')
  yield* readEvents(response.body!)
}

async function* watchJson(client: TestClient, id: string): AsyncGenerator<any> {
  for await (const { name, data } of watch(client, id, '?format=json'))
    yield name === 'message' ? JSON.parse(data) : { name, data }
}

/** Waits for an event with that state, and gives it back. */
async function untilState(stream: AsyncGenerator<any>, state: string) {
  for (;;) {
    const { value, done } = await stream.next()
    if (done) throw new Error(`It never was ${state}.`)
    if (value.state === state) return value
  }
}

/** Every container that the engine was asked about, in order. */
function countPolls(t: TestApp) {
  const asked: string[] = []
  const { containerStats } = t.docker
  t.faults.containerStats = (id, options) => {
    asked.push(id)
    return containerStats(id, options)
  }
  return asked
}

/** Looks four times as often, for those who wait for many looks. */
const hasty = () => testApp({}, { usageInterval: 500 })

const busy = 'while :; do :; done'

test('what a busy container uses comes again and again, as the engine itself counts it', async () => {
  const t = hasty()
  const ada = t.logIn('ada@example.com')
  const { id } = await aRunning(t, ada, busy, { cpus: 0.5 })
  const stream = watchJson(ada, id)
  await stream.next()
  const { value: first } = await stream.next()
  const { value: usage } = await stream.next()
  expect(Date.parse(usage.time)).toBeGreaterThan(Date.parse(first.time))
  const { rates, ...counts } = usage
  expect(counts).toEqual({
    state: 'running',
    time: usage.time,
    cpu: expect.any(Number),
    memory: expect.any(Number),
    memoryLimit: 32 * 2 ** 20,
    received: expect.any(Number),
    sent: 0,
    read: expect.any(Number),
    written: 0,
    pids: 2, // with the init
  })
  expect(Object.keys(rates)).toEqual(['received', 'sent', 'read', 'written'])
  expect(usage.cpu).toBeWithin(3, 60)
  const told = await dockerStats(id)
  expect(Math.abs(told.cpu - usage.cpu)).toBeLessThan(30)
  expect(Math.abs(told.memory - usage.memory)).toBeLessThan(2 ** 20)
  await stream.return(undefined)
})

/** By the formula of `docker stats`, from the engine's own pair of readings. */
async function dockerStats(id: string) {
  const answer = await fetch(`http://engine/v1.41/containers/${id}/stats?stream=false`, {
    unix: '/var/run/docker.sock',
  })
  const { cpu_stats: now, precpu_stats: before, memory_stats: memory }: any = await answer.json()
  const used = now.cpu_usage.total_usage - before.cpu_usage.total_usage
  const given = now.system_cpu_usage - before.system_cpu_usage
  const { inactive_file, total_inactive_file = inactive_file } = memory.stats
  return {
    cpu: (used / given) * now.online_cpus * 100,
    memory: memory.usage - (total_inactive_file ?? 0),
  }
}

test('people get the same as HTML', async () => {
  const t = testApp()
  const ada = t.logIn('ada@example.com')
  const { id } = await aRunning(t, ada)
  const stream = watch(ada, id)
  const { name, data } = (await stream.next()).value!
  expect(name).toBe('message') // what has a name is not swapped
  expect(data).toContain('of 32.0 MiB')
  expect(data).toContain('<meter')
  await stream.return(undefined)
})

test('fifty viewers are one poll, and without a viewer there is none', async () => {
  const t = testApp({ DAVIT_STREAMS_PER_USER: '60' }, { usageInterval: 20 })
  const ada = t.logIn('ada@example.com')
  const { id } = await aRunning(t, ada)
  const engine = givenReadings(t, id)
  const viewers = Array.from({ length: 50 }, () => watchJson(ada, id))
  const first = engine.give() // with which the first figures compare the second
  for (let events = 1; events <= 3; events++) {
    const seen = Promise.all(viewers.map(async (viewer) => (await viewer.next()).value.time))
    await first
    await engine.give()
    expect(new Set(await seen)).toEqual(new Set([new Date(2000 * (events + 1)).toISOString()]))
  }
  expect(engine.asked()).toBeWithin(4, 6) // the next poll may wait for its answer
  expect(t.usage.size).toBe(1)
  await Promise.all(viewers.map((viewer) => viewer.return(undefined)))
  expect(t.usage.size).toBe(0)
  const polls = engine.asked()
  await Bun.sleep(200)
  expect(engine.asked()).toBe(polls)
})

test('whoever comes later sees the last figures at once', async () => {
  const t = hasty()
  const ada = t.logIn('ada@example.com')
  const { id } = await aRunning(t, ada)
  const first = watchJson(ada, id)
  const { value: shown } = await first.next()
  const second = watchJson(ada, id)
  expect((await second.next()).value).toEqual(shown)
  await Promise.all([first.return(undefined), second.return(undefined)])
})

test('a reading of the history is what the first figure is compared with', async () => {
  const t = testApp()
  const ada = t.logIn('ada@example.com')
  const { id } = await aRunning(t, ada)
  const engine = givenReadings(t, id)
  const sample = new Sampler(t.deps).sample({ now: Date.now(), passed: performance.now() })
  await engine.give()
  await sample
  const stream = watchJson(ada, id)
  const figure = stream.next()
  await engine.give()
  expect((await figure).value).toMatchObject({ state: 'running', cpu: 0 })
  expect(engine.asked()).toBe(2)
  await stream.return(undefined)
})

test('a container that stops, starts, stops and goes is followed all the way', async () => {
  const t = hasty()
  const ada = t.logIn('ada@example.com')
  listen(t)
  const { id } = await anOwn(t, ada, 'trap exit TERM; sleep 999 & wait')
  const asked = countPolls(t)
  const stream = watchJson(ada, id)
  expect((await stream.next()).value).toEqual({ state: 'stopped', time: expect.any(String) })
  await Bun.sleep(700)
  expect(asked).toHaveLength(1) // what does not run is not asked for
  await t.docker.startContainer(id)
  await untilState(stream, 'running')
  await t.docker.stopContainer(id)
  await untilState(stream, 'stopped')
  expect(t.usage.latest(id)).toBeNull()
  await t.docker.startContainer(id)
  await untilState(stream, 'running')
  await t.docker.removeContainer(id, { force: true })
  await untilState(stream, 'removed')
  expect((await stream.next()).value).toEqual({ name: 'done', data: 'removed' })
  expect((await stream.next()).done).toBe(true)
})

test('a container that was restarted goes on from zero without a wild figure', async () => {
  const t = hasty()
  const ada = t.logIn('ada@example.com')
  listen(t)
  const { id } = await aRunning(t, ada, busy, { cpus: 0.5 })
  const stream = watchJson(ada, id)
  await untilState(stream, 'running')
  await t.docker.restartContainer(id, { timeoutSeconds: 0 })
  for (let events = 0; events < 3; events++) {
    const usage = await untilState(stream, 'running')
    expect(usage.cpu).toBeWithin(3, 70)
  }
  await stream.return(undefined)
})

test('an engine that is away is said to be, once, and waited for', async () => {
  const t = hasty()
  const ada = t.logIn('ada@example.com')
  const { id } = await aRunning(t, ada)
  const stream = watchJson(ada, id)
  await untilState(stream, 'running')
  t.faults.containerStats = () =>
    Promise.reject(new Failure('engine_unreachable', 'Away.', 'Wait.'))
  await untilState(stream, 'unknown')
  delete t.faults.containerStats
  expect((await stream.next()).value.state).toBe('running')
  await stream.return(undefined)
})

test('only who may see a container sees what it uses', async () => {
  const t = testApp()
  const [ada, bob, root] = [
    t.logIn('ada@example.com'),
    t.logIn('bob@example.com'),
    t.logInAsAdmin(),
  ]
  const { id } = await aRunning(t, ada)
  const stranger = await aStranger(t, 'sleep 999')
  await t.docker.startContainer(stranger)
  for (const path of ['stats', 'usage']) {
    for (const [client, of] of [
      [bob, id],
      [ada, stranger],
      [ada, id.slice(0, 12)],
      [ada, '0'.repeat(64)],
    ] as const)
      expect((await client.get(`/containers/${of}/${path}`)).status).toBe(404)
    for (const [client, of] of [
      [ada, id],
      [root, id],
      [root, stranger],
    ] as const) {
      const { status, body } = await client.send(`/containers/${of}/${path}`)
      await body?.cancel()
      expect(status).toBe(200)
    }
  }
  expect(t.usage.size).toBe(0)
})

test('a stream ends with the session it was opened in', async () => {
  const t = hasty()
  const ada = t.logIn('ada@example.com')
  const { id } = await aRunning(t, ada)
  const stream = watchJson(ada, id)
  await stream.next()
  t.db.$client.run('DELETE FROM sessions')
  while (!(await stream.next()).done);
  expect(t.usage.size).toBe(0)
})

test('HEAD answers for the stream and watches nothing', async () => {
  const t = testApp()
  const ada = t.logIn('ada@example.com')
  const { id } = await aRunning(t, ada)
  const { status, headers } = await ada.send(`/containers/${id}/stats`, { method: 'HEAD' })
  expect(status).toBe(200)
  expect(headers.get('Content-Type')).toStartWith('text/event-stream')
  expect(t.usage.size).toBe(0)
})

test('a range or a format that is none is refused by name', async () => {
  const t = testApp()
  const ada = t.logIn('ada@example.com')
  const { id } = await aRunning(t, ada)
  for (const query of ['usage?range=year', 'usage?range=hour&range=day', 'stats?format=xml']) {
    const { status, json } = await ada.get(`/containers/${id}/${query}`)
    expect(status, query).toBe(422)
    expect(json.errors, query).toHaveLength(1)
  }
  expect((await ada.get(`/containers/${id}/usage?range=constructor`)).status).toBe(422)
  expect((await ada.get(`/containers/${id}/usage?range=`)).json.range).toBe('hour')
})
