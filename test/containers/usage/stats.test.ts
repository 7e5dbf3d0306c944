import { expect, test } from 'bun:test'
import { Sampler } from '../../../src/containers/usage/sampler.ts'
import { testApp, withAda } from '../../support/app.ts'
import { Failure } from '../../../src/platform/errors.ts'
import { anOwn, aRunning, aStranger } from '../engine.ts'
import { givenReadings } from './readings.ts'
import { hasty, untilState, watch, watched, watchJson } from './watching.ts'

test('people get the same as HTML', async () => {
  const { t, ada } = withAda(testApp())
  const { id } = await aRunning(t, ada)
  const stream = watch(ada, id)
  const { name, data } = (await stream.next()).value!
  expect(name).toBe('message') // what has a name is not swapped
  expect(data).toContain('of 32.0 MiB')
  expect(data).toContain('<meter')
  await stream.return(undefined)
})

test('fifty viewers are one poll, and without a viewer there is none', async () => {
  const { t, ada } = withAda(testApp({ DAVIT_STREAMS_PER_USER: '60' }, { usageInterval: 20 }))
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

test('one that could not be looked at is looked at again, though nothing happens to it', async () => {
  const { t, ada } = hasty()
  const { id } = await anOwn(t, ada, 'sleep 99')
  const { inspectContainer } = t.docker
  let looks = 0
  t.faults.inspectContainer = (...given) =>
    ++looks === 2 // after the one that lets the viewer in
      ? Promise.reject(new Failure('engine_timeout', 'Busy.', 'Wait.'))
      : inspectContainer(...given)
  const stream = watchJson(ada, id)
  await untilState(stream, 'unknown')
  await untilState(stream, 'stopped')
  await stream.return(undefined)
})

test('one that can’t be measured any more uses nothing that is known', async () => {
  const { t, id, stream } = await watched()
  await untilState(stream, 'running')
  t.faults.containerStats = () => Promise.reject(new Failure('engine_timeout', 'Busy.', 'Wait.'))
  await untilState(stream, 'unknown')
  expect(t.usage.latest(id)).toBeNull()
  await stream.return(undefined)
})

test('whoever comes later sees the last figures at once', async () => {
  const { ada, id, stream: first } = await watched()
  const { value: shown } = await first.next()
  const second = watchJson(ada, id)
  expect((await second.next()).value).toEqual(shown)
  await Promise.all([first.return(undefined), second.return(undefined)])
})

test('a reading of the history is what the first figure is compared with', async () => {
  const { t, ada } = withAda(testApp())
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
  const { t, stream } = await watched()
  await stream.next()
  t.db.$client.run('DELETE FROM sessions')
  while (!(await stream.next()).done);
  expect(t.usage.size).toBe(0)
})

test('HEAD answers for the stream and watches nothing', async () => {
  const { t, ada } = withAda(testApp())
  const { id } = await aRunning(t, ada)
  const { status, headers } = await ada.send(`/containers/${id}/stats`, { method: 'HEAD' })
  expect(status).toBe(200)
  expect(headers.get('Content-Type')).toStartWith('text/event-stream')
  expect(t.usage.size).toBe(0)
})

test('a range or a format that is none is refused by name', async () => {
  const { t, ada } = withAda(testApp())
  const { id } = await aRunning(t, ada)
  for (const query of ['usage?range=year', 'usage?range=hour&range=day', 'stats?format=xml']) {
    const { status, json } = await ada.get(`/containers/${id}/${query}`)
    expect(status, query).toBe(422)
    expect(json.errors, query).toHaveLength(1)
  }
  expect((await ada.get(`/containers/${id}/usage?range=constructor`)).status).toBe(422)
  expect((await ada.get(`/containers/${id}/usage?range=`)).json.range).toBe('hour')
})
