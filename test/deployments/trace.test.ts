import { expect, test } from 'bun:test'
import { rmSync } from 'node:fs'
import { EngineError } from '../../src/docker/index.ts'
import { timed, Trace, tracedCalls } from '../../src/platform/trace.ts'
import { simulatedApp, withAda } from '../support/app.ts'
import { anApp, aProject } from './apps.ts'
import { pathOf } from './events.ts'

type Spans = { kind: string; name: string; detail: string | null; [other: string]: unknown }[]

const setUp = async () => {
  const { t, ada } = withAda(simulatedApp({}, { config: { settleTime: 100 } }))
  // a simulated call can end at once, and a trace leaves out what takes no time
  t.faults.createContainer = (of) => Bun.sleep(1).then(() => t.docker.createContainer(of))
  return { t, ada, project: await aProject(t, ada, anApp('first')) }
}

test('the trace of a deployment has its steps, calls and waits, and a page that draws them', async () => {
  const { t, ada, project } = await setUp()
  const deployment = await project.deploy()
  await t.jobs.idle()

  const { json } = await ada.get(`${pathOf(deployment)}/trace`)
  expect(json).toMatchObject({ deploymentId: deployment.id, isComplete: true, dropped: 0 })
  const spans = json.spans as Spans
  const steps = spans.filter(({ kind }) => kind === 'step').map(({ name }) => name)
  expect(steps).toEqual(['cloning', 'building', 'deploying'])
  const has = (kind: string, name: string) =>
    expect(spans).toContainEqual(expect.objectContaining({ kind, name, failed: false }))
  has('git', 'fetch')
  has('docker', 'create container')
  has('wait', 'whether it stays up')
  has('davit', 'make it live')
  expect(json.milliseconds).toBeGreaterThan(0)
  for (const span of spans)
    expect((span.start as number) + (span.milliseconds as number)).toBeLessThan(
      json.milliseconds + 1,
    )
  const page = await ada.page(`${pathOf(deployment)}/trace`)
  expect(page.text).toContain('create container')
  expect((await ada.page(pathOf(deployment))).text).toContain(`${pathOf(deployment)}/trace`)
})

test('a failed call is marked, and a trace is deleted with its deployment', async () => {
  const { t, ada, project } = await setUp()
  t.faults.startContainer = () => Promise.reject(new EngineError(500, 'no'))
  const deployment = await project.deploy()
  await t.jobs.idle()
  const { json } = await ada.get(`${pathOf(deployment)}/trace`)
  expect(json.spans).toContainEqual(
    expect.objectContaining({ name: 'start container', failed: true }),
  )
  const stored = () =>
    t.db.$client.query('SELECT length(data) AS bytes FROM deployment_traces').all() as {
      bytes: number
    }[]
  expect(stored()[0]!.bytes).toBeLessThan(8192)
  t.db.$client.run('DELETE FROM deployments')
  expect(stored()).toEqual([])
})

test('one that never began has nothing, and of an interrupted one only the steps are known', async () => {
  const { t, ada, project } = await setUp()
  rmSync(project.repository.path, { recursive: true })
  const deployment = await project.deploy()
  await t.jobs.idle()
  t.db.$client.run('DELETE FROM deployment_traces')
  const path = `${pathOf(deployment)}/trace`
  const { json } = await ada.get(path)
  expect(json).toMatchObject({ isComplete: false, spans: [{ name: 'cloning', failed: true }] })
  expect((await ada.page(path)).status).toBe(200)
  t.db.$client.run("UPDATE deployments SET steps = '[]'")
  expect((await ada.get(path)).json).toMatchObject({ startedAt: null, spans: [] })
  expect((await ada.page(path)).status).toBe(200)
})

test('equal calls become one span, others are counted once they are too many', async () => {
  const trace = new Trace()
  for (let n = 0; n < 1000; n++)
    await timed(trace, { kind: 'docker', name: 'inspect' }, async () => {})
  expect(trace.spans.length).toBe(11)
  expect(trace.spans.at(-1)!.count).toBe(990)
  for (let n = 0; n < 1000; n++) timed(trace, { kind: 'git', name: `n${n}` }, () => {})
  expect(trace.spans.length).toBe(500)
  expect(trace.dropped).toBe(511)
  trace.end()
  timed(trace, { kind: 'git', name: 'later' }, () => {})
  expect(trace.spans.length).toBe(500)
})

test('a traced call returns, throws and streams what it did before', async () => {
  const trace = new Trace()
  const calls = tracedCalls(
    {
      remote: false,
      one: async (n: number) => n + 1,
      broken: async () => Promise.reject(new Error('no')),
      async *lines(end: string) {
        yield 'a'
        return end
      },
    },
    trace,
    { kind: 'docker' },
  )
  expect(calls.remote).toBeFalse()
  expect(await calls.one(1)).toBe(2)
  expect(calls.broken()).rejects.toThrow('no')
  const stream = calls.lines('last')
  expect(await stream.next()).toEqual({ value: 'a', done: false })
  expect(await stream.next()).toEqual({ value: 'last', done: true })
  trace.end()
  expect(trace.spans.map(({ name, detail, failed }) => [name, detail, failed])).toEqual([
    ...([
      ['one', '', false],
      ['broken', '', true],
      ['lines', 'last', false],
    ] as const),
  ] as never)
})
