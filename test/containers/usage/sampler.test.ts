import { expect, test } from 'bun:test'
import { connectDocker, Engines } from '../../../src/docker/index.ts'
import { Sampler } from '../../../src/containers/usage/sampler.ts'
import { readHistory } from '../../../src/containers/usage/sample-history.ts'
import { insertSamples } from '../../../src/containers/usage/sample-store.ts'
import { testApp, withAda } from '../../support/app.ts'
import type { TestApp } from '../../support/app.ts'
import { aRunning, anOwn } from '../engine.ts'
import { aReading } from './readings.ts'

type Row = { span: number; time: number; cpu: number; memory: number; pids: number }

const rows = (t: TestApp, containerId: string) =>
  t.logDb.$client
    .query('SELECT * FROM samples WHERE container_id = ? ORDER BY span, time')
    .all(containerId) as Row[]

const hour = 3600
const start = Date.UTC(2026, 0, 1) / 1000

/**
 * Takes a sample of a made-up container every ten seconds of a made-up time, as a week of it can't be
 * waited for. The clock may be set meanwhile; time passes all the same.
 */
function lapse(t: TestApp, cpuAt: (round: number) => number = () => 50) {
  let [now, passed, round] = [start * 1000, 0, 0]
  let reading = aReading
  t.faults.listContainers = async () => [{ id: 'made-up' } as never]
  t.faults.containerStats = async () => reading
  const sampler = new Sampler(t.deps)
  return {
    async run(seconds: number, step = 10) {
      for (let left = seconds; left > 0; left -= step) {
        ;[now, passed, round] = [now + step * 1000, passed + step * 1000, round + 1]
        const given = step * 1e9
        reading = {
          ...reading,
          readAt: new Date(reading.readAt.getTime() + step * 1000),
          systemCpu: reading.systemCpu + given,
          cpuTotal: reading.cpuTotal + (given * cpuAt(round)) / 100,
        }
        await sampler.sample({ now, passed })
      }
    },
    setClock(seconds: number) {
      now += seconds * 1000
    },
    seconds: () => now / 1000,
  }
}

const ofSpan = (all: Row[], span: number) => all.filter((row) => row.span === span)

test('what runs is measured, against the round before, and what does not is not', async () => {
  const { t, ada } = withAda(testApp())
  const busy = await aRunning(t, ada, 'while :; do :; done', { cpus: 0.5 })
  const stopped = await anOwn(t, ada, 'sleep 999')
  const sampler = new Sampler(t.deps)
  await sampler.sample({ now: 1000_000, passed: 0 })
  expect(rows(t, busy.id)).toEqual([]) // with nothing to compare with
  await Bun.sleep(2000)
  await sampler.sample({ now: 1010_000, passed: 10_000 })
  expect(rows(t, busy.id)).toMatchObject([{ span: 10, time: 1010, pids: 2 }])
  expect(rows(t, busy.id)[0]!.cpu).toBeWithin(3, 60)
  expect(rows(t, stopped.id)).toEqual([])
  expect(t.usage.latest(busy.id)!.usage.cpu).toBeWithin(3, 60)
  await t.docker.stopContainer(busy.id)
  await sampler.sample({ now: 1020_000, passed: 20_000 })
  expect(t.usage.latest(busy.id)).toBeNull()
})

test('while the engine doesn’t answer, nothing is said to be used now', async () => {
  const t = testApp()
  const time = lapse(t)
  await time.run(20)
  expect(t.usage.latest('made-up')).not.toBeNull()
  t.faults.listContainers = () => Promise.reject(new Error('away'))
  await time.run(10).catch(() => {})
  expect(t.usage.latest('made-up')).toBeNull()
})

test('the last hour is on the page when it opens, with what stands still on it', async () => {
  const { t, ada } = withAda(testApp())
  const { id } = await anOwn(t, ada, 'x')
  const now = Math.floor(Date.now() / 10_000) * 10
  const use = { received: 0, sent: 0, read: 0, written: 0, pids: 3, memory: 2 ** 20 }
  insertSamples(t.logDb, [
    { containerId: id, time: now - 600, cpu: 10, ...use },
    { containerId: id, time: now - 590, cpu: 30, ...use },
    { containerId: id, time: now - 2 * hour, cpu: 99, ...use },
  ])
  const { text } = await ada.page(`/containers/${id}`)
  expect(text).toContain('average 20 %, peak 30 %')
  expect(text).toContain('Stopped')
  expect(text).not.toContain('style=')
  const { json } = await ada.get(`/containers/${id}/usage`)
  expect(json).toMatchObject({ range: 'hour', span: 10, now: { state: 'stopped' } })
  expect(json.samples).toEqual([
    { time: new Date((now - 600) * 1000).toISOString(), cpu: 10, ...use },
    { time: new Date((now - 590) * 1000).toISOString(), cpu: 30, ...use },
  ])
  const partial = await ada.htmx('GET', `/containers/${id}/usage?range=week`)
  expect(partial.text).toStartWith('<div id="stats-history"')
  expect(partial.text).toContain('No data in the last week')
})

test('the longer spans are the averages of all that was measured in them', async () => {
  const t = testApp()
  const time = lapse(t, (round) => round % 6) // in each minute once 0 to 5
  await time.run(20 * 60)
  const all = rows(t, 'made-up')
  const minutes = ofSpan(all, 60)
  expect(minutes.map(({ time }) => time - start)).toEqual(
    Array.from({ length: 20 }, (_, index) => (index + 1) * 60),
  )
  for (const { cpu } of minutes.slice(1)) expect(cpu).toBeCloseTo(2.5)
  expect(minutes[0]!.cpu).toBeCloseTo((2 + 3 + 4 + 5 + 0) / 5) // the first reading makes no sample
  expect(ofSpan(all, 600).map(({ time }) => time - start)).toEqual([600, 1200])
  expect(ofSpan(all, 600)[1]!.cpu).toBeCloseTo(2.5)
  expect(ofSpan(all, 600)[1]).toMatchObject({ memory: 1000, pids: 3 })
})

test('each span is kept a little longer than it is shown, and nothing beyond', async () => {
  const t = testApp()
  const time = lapse(t)
  await time.run(26 * hour, 20)
  const counts = () => [10, 60, 600].map((span) => ofSpan(rows(t, 'made-up'), span).length)
  expect(counts()).toEqual([210, 1500, 156])
  for (const [range, length] of [
    ['hour', 180],
    ['day', 1440],
    ['week', 156],
  ] as const) {
    const history = readHistory(t.logDb, {
      containerId: 'made-up',
      range,
      now: time.seconds() * 1000,
    })
    expect(history.samples, range).toHaveLength(length)
  }
  await time.run(8 * 24 * hour, 600) // too far apart to make a sample
  expect(counts()).toEqual([0, 0, 0])
}, 60_000)

test('a gap is a gap: what passed between two distant rounds is not drawn as ten seconds', async () => {
  const t = testApp()
  const time = lapse(t)
  await time.run(60)
  await time.run(600, 600)
  await time.run(20)
  expect(ofSpan(rows(t, 'made-up'), 10).map(({ time }) => time - start)).toEqual([
    20, 30, 40, 50, 60, 670, 680,
  ])
})

test('a clock that jumps removes nothing until it has stood for a while', async () => {
  const t = testApp()
  const time = lapse(t)
  await time.run(2 * hour)
  const before = rows(t, 'made-up').filter(({ time }) => time > start + hour)
  const kept = () => {
    const now = new Set(rows(t, 'made-up').map((row) => JSON.stringify(row)))
    return before.filter((row) => now.has(JSON.stringify(row))).length
  }
  const year = 365 * 24 * hour
  time.setClock(year)
  await time.run(600)
  time.setClock(-year)
  await time.run(60)
  expect(kept()).toBe(before.length)
  time.setClock(-year)
  await time.run(hour)
  expect(kept()).toBe(before.length)
  time.setClock(2 * year)
  await time.run(hour)
  expect(kept()).toBe(0)
})

test('a moment that comes twice counts once', async () => {
  const t = testApp()
  const time = lapse(t)
  await time.run(60)
  time.setClock(-30)
  await time.run(30)
  expect(ofSpan(rows(t, 'made-up'), 10)).toHaveLength(5)
})

test('one that can’t be read is missing alone', async () => {
  const t = testApp()
  const time = lapse(t)
  const { containerStats } = t.faults
  t.faults.listContainers = async () => [{ id: 'broken' }, { id: 'made-up' }] as never
  t.faults.containerStats = async (id) => {
    if (id === 'broken') throw new Error('no stats')
    return containerStats!(id)
  }
  await time.run(30)
  expect(rows(t, 'made-up')).toHaveLength(2)
  expect(rows(t, 'broken')).toEqual([])
})

test('no more than four are read at a time, each once', async () => {
  const t = testApp()
  const ids = Array.from({ length: 30 }, (_, index) => `c${index}`)
  const asked: string[] = []
  let [open, most] = [0, 0]
  t.faults.listContainers = async () => ids.map((id) => ({ id })) as never
  t.faults.containerStats = async (id) => {
    asked.push(id)
    most = Math.max(most, ++open)
    await Bun.sleep(1)
    open--
    return aReading
  }
  await new Sampler(t.deps).sample({ now: 0, passed: 0 })
  expect(most).toBe(4)
  expect(asked.toSorted()).toEqual(ids.toSorted())
})

test('an engine that is away costs one call and loses nothing', async () => {
  const t = testApp()
  const docker = connectDocker({ host: 'unix:///nowhere.sock' })
  let calls = 0
  const { listContainers } = docker
  docker.listContainers = (options) => {
    calls++
    return listContainers(options)
  }
  const round = new Sampler({ ...t.deps, engines: new Engines([docker]) }).sample({
    now: 0,
    passed: 0,
  })
  await expect(round).rejects.toThrow('can’t be reached')
  expect(calls).toBe(1)
})
