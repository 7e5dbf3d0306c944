import { expect, test } from 'bun:test'
import { insertSamples } from '../../../src/containers/usage/sample-store.ts'
import { adoptRelease } from '../../../src/runtime/store.ts'
import { anEnvironment } from '../../logs/collecting.ts'
import { testApp, withAda } from '../../support/app.ts'
import { aReading } from './readings.ts'

const containers = [
  { component: 'web', containerId: 'web-1', state: 'live' as const },
  { component: 'worker', containerId: 'worker-1', state: 'live' as const },
  { component: 'worker', containerId: 'worker-2', state: 'live' as const },
]

const idle = { received: 0, sent: 0, read: 0, written: 0, pids: 1 }

/** An environment in which a web process and two workers ran at these times. */
async function measured() {
  const { t, ada } = withAda(testApp())
  const environment = await anEnvironment(t, ada)
  const workload = { id: environment.id, kind: 'app' as const }
  adoptRelease(t.db, { workload, id: Bun.randomUUIDv7(), containers })
  const last = Math.floor(Date.now() / 10_000) * 10
  const taken = (containerId: string, ago: number, cpu: number, memory: number) => ({
    ...{ containerId, time: last - ago, cpu, memory },
    ...idle,
  })
  insertSamples(t.logDb, [
    taken('web-1', 20, 5, 100),
    taken('web-1', 10, 6, 110),
    taken('worker-1', 10, 20, 200),
    taken('worker-2', 10, 30, 300),
    taken('someone-else', 10, 99, 999),
  ])
  const metrics = `${environment.path}/metrics`
  return { ...environment, t, ada, workload, metrics, usage: `${environment.path}/usage` }
}

const used = ({ samples }: { samples: { cpu: number; memory: number }[] }) =>
  samples.map(({ cpu, memory }) => [cpu, memory])

test('what each process used is told, its containers taken together, and what all did', async () => {
  const { ada, usage } = await measured()
  const { json } = await ada.get(usage)
  expect({ range: json.range, span: json.span }).toEqual({ range: 'hour', span: 10 })
  expect(json.processes.map(({ process }: { process: string }) => process)).toEqual([
    'web',
    'worker',
  ])
  expect(json.processes.map(used)).toEqual([
    [
      [5, 100],
      [6, 110],
    ],
    [[50, 500]],
  ])
  expect(used(json.total)).toEqual([
    [5, 100],
    [56, 610],
  ])
  expect(json.total.now).toBe(null)
  expect((await ada.get(`${usage}?range=week`)).json.total.samples).toEqual([])
})

test('what they use now comes from the last round of measuring, and asks the engine for nothing', async () => {
  const { t, ada, path, usage, metrics } = await measured()
  t.faults.containerStats = () => Promise.reject(new Error('It was asked.'))
  const of = (cpu: number) => ({
    reading: aReading,
    usage: { ...aReading, cpu, rates: { received: 0, sent: 0, read: 0, written: 0 } },
  })
  t.usage.remember(
    new Map([...containers.entries()].map(([at, { containerId }]) => [containerId, of(at + 1)])),
  )
  const { json } = await ada.get(usage)
  expect(json.processes.map(({ now }: { now: object }) => now)).toEqual([
    { containers: 1, cpu: 1, memory: 1000, memoryLimit: 2000 },
    { containers: 2, cpu: 5, memory: 2000, memoryLimit: 4000 },
  ])
  expect(json.total.now).toEqual({ containers: 3, cpu: 6, memory: 3000, memoryLimit: 6000 })
  const { text } = await ada.page(metrics)
  expect(text).toContain('<bdi>worker</bdi><span class="muted"> in 2 containers</span>')
  expect(text).toContain('Together')
  expect(text).toContain('class="chart-line p1"')
  const overview = (await ada.page(path)).text
  expect(overview).toContain('CPU 3.0 %, 1000 B in use')
  expect(overview).toContain(`href="${path}/output?process=worker+2"`)
})

test('people find usage and requests on one page, for the same time; programs also apart', async () => {
  const { ada, id, usage, metrics } = await measured()
  const traffic = `/envs/${id}/traffic`
  const { text } = await ada.page(`${metrics}?range=day&host=app.test`)
  for (const part of ['id="process-usage"', 'id="traffic"']) expect(text).toContain(part)
  expect(text).toContain(`href="${metrics}?range=week&amp;host=app.test"`)
  expect(text.match(/aria-label="Time range"/g)).toHaveLength(1)
  for (const path of [usage, traffic]) {
    const asked = `${path}?range=day`
    const moved = await ada.send(asked, { headers: { Accept: 'text/html' } })
    expect(moved.headers.get('Location')).toBe(`${metrics}?range=day`)
  }
  const [both, one, other] = await Promise.all(
    [metrics, usage, traffic].map(async (path) => (await ada.get(`${path}?range=week`)).json),
  )
  expect(both).toEqual({ usage: one, traffic: other })
})

test('a process that is gone is shown as long as its samples are, and each keeps its place', async () => {
  const { t, ada, usage, workload } = await measured()
  const next = [{ component: 'web', containerId: 'web-2', state: 'live' as const }]
  adoptRelease(t.db, { workload, id: Bun.randomUUIDv7(), containers: next })
  t.db.$client.run("UPDATE instances SET state = 'removed' WHERE state = 'draining'")
  const names = async (query: string) =>
    (await ada.get(`${usage}${query}`)).json.processes.map(
      ({ process }: { process: string }) => process,
    )
  expect(await names('')).toEqual(['web', 'worker'])
  expect(await names('?range=day')).toEqual(['web'])
})

test('the usage of an environment is its owner’s alone, and a strange range is refused', async () => {
  const { t, ada, usage } = await measured()
  expect((await t.logIn('bob@example.com').get(usage)).status).toBe(404)
  expect((await ada.get(`${usage}?range=year`)).status).toBe(422)
})
