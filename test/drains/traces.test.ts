import { expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { deployments, drainTraces } from '../../src/db/schema.ts'
import { getDeployment } from '../../src/environments/store.ts'
import { getTrace, saveTrace } from '../../src/deployments/trace-store.ts'
import { moveDeployment } from '../../src/deployments/store.ts'
import { simulatedApp, withAda } from '../support/app.ts'
import { aProject, anApp, finished } from '../deployments/apps.ts'
import { Drains } from '../../src/drains/drains.ts'
import { writeOutput } from '../logs/writing.ts'
import { httpReceiver, status } from './receivers.ts'
import { later } from './scene.ts'

async function withTraces(more: Record<string, unknown> = {}) {
  const receiver = httpReceiver()
  const { t, ada } = withAda(simulatedApp())
  const project = await aProject(t, ada, anApp('first'))
  const path = `/envs/${project.environmentId}/drains`
  const made = await ada.post(path, {
    ...{ kind: 'otlp', name: 'central', url: receiver.url, requests: false, traces: true },
    ...{ password: 'a-token-1', ...more },
  })
  expect(made.status, made.text).toBe(201)
  const one = `${path}/${made.json.id}`
  const traces = () => receiver.accepted.filter(({ path }) => path.endsWith('/v1/traces'))
  return {
    ...{ t, ada, project, receiver, traces, one, made: made.json },
    async send(more = 0, drains = t.drains) {
      drains.sendDue(Date.now() + more, { signal: new AbortController().signal })
      await drains.idle()
    },
    shown: async () => (await ada.get(one)).json,
  }
}

type Attribute = { key: string; value: { stringValue?: string; intValue?: string } }

/** As a receiver reads them. */
const read = (attributes: Attribute[]) =>
  Object.fromEntries(
    attributes.map(({ key, value: { stringValue, intValue } }) => [key, stringValue ?? intValue]),
  )

test('a deployment is a trace: a root with its steps, and calls within them, at their times', async () => {
  const s = await withTraces()
  expect(s.made).toMatchObject({ traces: true, ofTraces: { sent: 0, waiting: 0, problem: null } })
  // a simulated call can end at once, and a trace leaves out what takes no time
  s.t.faults.createContainer = (of) => Bun.sleep(1).then(() => s.t.docker.createContainer(of))
  const before = Date.now()
  const deployment = await s.project.deploy()
  const over = Date.now()
  expect(await s.shown()).toMatchObject({ ofTraces: { sent: 0, waiting: 1 } })
  await s.send()
  const [{ body, headers }, ...others] = s.traces() as [any]
  expect(others).toEqual([])
  expect(headers.get('Authorization')).toBe('Bearer a-token-1')
  expect(headers.get('Content-Type')).toContain('application/json')
  const [{ resource, scopeSpans }] = body.resourceSpans
  expect(read(resource.attributes)).toMatchObject({
    ...{ 'service.name': 'site', 'deployment.environment.name': 'production' },
    'cicd.pipeline.run.id': deployment.id,
    'cicd.pipeline.run.url.full': expect.stringContaining(`/deployments/${deployment.id}`),
    'vcs.ref.head.revision': s.project.repository.head,
  })
  const spans: any[] = scopeSpans[0].spans
  const [root, ...rest] = spans
  expect(root).toMatchObject({ name: 'RUN deploy production', kind: 2 })
  expect(root.parentSpanId).toBeUndefined()
  expect(root.status).toBeUndefined()
  expect(read(root.attributes)['cicd.pipeline.result']).toBe('success')
  const steps = rest.filter(({ attributes }) => 'cicd.pipeline.task.name' in read(attributes))
  for (const { parentSpanId } of steps) expect(parentSpanId).toBe(root.spanId)
  expect(steps.map(({ name }) => name)).toEqual(['cloning', 'building', 'deploying'])
  const parents = [root, ...steps].map(({ spanId }) => spanId)
  const calls = rest.filter(({ name }) => name.startsWith('docker '))
  expect(calls).not.toEqual([])
  for (const { kind, parentSpanId } of calls)
    expect([kind, parents.includes(parentSpanId)]).toEqual([3, true])
  expect(new Set(spans.map(({ spanId }) => spanId)).size).toBe(spans.length)
  for (const { traceId, spanId, startTimeUnixNano, endTimeUnixNano } of spans) {
    expect(traceId).toBe(deployment.id.replaceAll('-', ''))
    expect(spanId).toMatch(/^[0-9a-f]{16}$/)
    const [start, end] = [startTimeUnixNano, endTimeUnixNano].map((at) =>
      Number(BigInt(at) / 1_000_000n),
    )
    expect(start! >= before - 1 && start! <= end! && end! <= over + 1).toBe(true)
  }
  expect(calls.some(({ parentSpanId }) => parentSpanId === steps.at(-1).spanId)).toBe(true)
  expect(await s.shown()).toMatchObject({ ofTraces: { sent: 1, waiting: 0 } })
  await s.send(later)
  expect(s.traces()).toHaveLength(1)
})

test('a deployment that failed has its code, and nothing of its output or values', async () => {
  const s = await withTraces()
  await s.project.set({ key: 'KEY', value: 'a-very-secret-value', secret: true })
  s.t.faults.startContainer = () => {
    throw new Error('a-very-secret-value is wrong')
  }
  const { json } = await s.ada.post(`/projects/${s.project.id}/deployments`, {})
  const deployment = await finished(s.ada, json)
  expect(deployment.status).toBe('failed')
  await s.send()
  const text = JSON.stringify(s.traces()[0]!.body)
  const [root] = s.traces()[0]!.body.resourceSpans[0].scopeSpans[0].spans
  expect(root.status).toEqual({ code: 2 })
  expect(read(root.attributes)).toMatchObject({
    ...{ 'cicd.pipeline.result': 'failure', 'error.type': deployment.error.code },
  })
  for (const secret of ['a-very-secret-value', 'a-token-1']) expect(text).not.toContain(secret)
})

test('what a receiver doesn’t take waits, through a restart, and deployments don’t notice', async () => {
  const s = await withTraces()
  s.receiver.always(status(503, '', { 'Retry-After': '1' }))
  await s.project.deploy()
  await s.send()
  expect((await s.shown()).ofTraces).toMatchObject({ sent: 0, waiting: 1, dropped: 0 })
  expect((await s.shown()).ofTraces.problem.message).toContain('503')
  expect((await s.ada.page(s.one)).text).toContain('failing')
  await s.project.deploy()
  const [first] = s.receiver.refused as [any]
  s.receiver.always(null)
  await s.send() // not due yet
  expect(s.traces()).toEqual([])
  await s.send(0, new Drains(s.t.deps)) // after a restart it tries at once
  expect((await s.shown()).ofTraces).toMatchObject({ sent: 2, waiting: 0, problem: null })
  const [again] = s.traces() as [any]
  expect(again.body).toEqual(first.body) // so a receiver can tell it is the same
})

test('one that is refused is left out, and lines are sent beside traces that aren’t taken', async () => {
  const s = await withTraces({ requests: true })
  s.receiver.always(({ path }) => new Response(null, { status: path === '/v1/logs' ? 204 : 400 }))
  await s.project.deploy()
  await s.send()
  const of = { sourceId: s.project.environmentId, deploymentId: '', name: 'c1', process: 'web' }
  writeOutput(s.t, of, [{ time: Date.now(), stream: 'stdout', text: 'hello' }])
  await s.send()
  const { problem, ofTraces } = await s.shown()
  expect(ofTraces).toMatchObject({ sent: 0, waiting: 0, dropped: 1 })
  expect(problem).toBeNull()
  expect(JSON.stringify(s.receiver.accepted.map(({ body }) => body))).toContain('hello')
  s.receiver.always(({ path }) => new Response(null, { status: path === '/v1/logs' ? 204 : 404 }))
  await s.project.deploy()
  await s.send(later)
  expect((await s.shown()).ofTraces).toMatchObject({ waiting: 1, dropped: 1 })
  expect((await s.ada.post(`${s.one}/test`)).status).toBe(503)
})

test('spans that the receiver rejects are told of with its reason, until it takes a whole trace', async () => {
  const s = await withTraces()
  const partialSuccess = { rejectedSpans: '3', errorMessage: 'too\nold.' }
  s.receiver.next(() => Response.json({ partialSuccess }))
  await s.project.deploy()
  await s.send()
  const { ofTraces } = await s.shown()
  expect(ofTraces).toMatchObject({ sent: 1, waiting: 0, dropped: 0 })
  expect(ofTraces.problem.message).toMatch(/3 spans.*too old/)
  s.receiver.next(() => Response.json({ partialSuccess: { rejectedSpans: 'x' } }))
  await s.project.deploy()
  await s.send(later)
  expect((await s.shown()).ofTraces).toMatchObject({ sent: 2, problem: null })
})

test('a trace is sent once its deployment has ended, and none after they are turned off', async () => {
  const s = await withTraces()
  const { id } = await s.project.deploy()
  await s.send()
  const one = getDeployment(s.t.db, id)!
  moveDeployment(s.t.db, { id, from: [one.status], status: 'pending' }) // as Davit’s stop requeues it
  saveTrace(s.t.db, id, getTrace(s.t.db, id)!)
  await s.send()
  expect(s.traces()).toHaveLength(1)
  moveDeployment(s.t.db, { id, from: ['pending'], status: 'running' })
  expect((await s.ada.put(s.one, { traces: false })).json).toMatchObject({ ofTraces: null })
  expect(s.t.db.select().from(drainTraces).all()).toEqual([])
  await s.project.deploy()
  await s.send(later)
  expect(s.traces()).toHaveLength(1)
  expect(s.t.db.select().from(drainTraces).all()).toEqual([])
})

test('the trace of a version that is watched is sent once that is over, and says how it ended', async () => {
  const s = await withTraces()
  const { id } = await s.project.deploy()
  const set = (values: Partial<typeof deployments.$inferInsert>) =>
    s.t.db.update(deployments).set(values).where(eq(deployments.id, id)).run()
  set({ watchUntil: new Date() })
  await s.send()
  expect(s.traces()).toEqual([])
  expect(await s.shown()).toMatchObject({ ofTraces: { sent: 0, waiting: 1 } })
  const reverted = { errorStep: 'watching', errorCode: 'crashed_after_switch' } as const
  set({ watchUntil: null, status: 'failed', ...reverted })
  await s.send()
  const [root] = s.traces()[0]!.body.resourceSpans[0].scopeSpans[0].spans
  expect(read(root.attributes)).toMatchObject({
    ...{ 'cicd.pipeline.result': 'failure', 'error.type': 'crashed_after_switch' },
  })
})

test('the test of a drain sends both, and the address may have the path of lines', async () => {
  const s = await withTraces()
  await s.ada.put(s.one, { url: `${s.receiver.url}/v1/logs`, password: 'a-token-1' })
  const tested = await s.ada.post(`${s.one}/test`)
  expect(tested.status, tested.text).toBe(200)
  expect(s.receiver.accepted.map(({ path }) => path)).toEqual(['/v1/logs', '/v1/traces'])
  const loki = { kind: 'loki', name: 'other', url: s.receiver.url, traces: true }
  const { status, json } = await s.ada.post(s.one.replace(/\/[^/]+$/, ''), loki)
  expect([status, json.errors?.[0].field]).toEqual([422, 'traces'])
})

test('a damaged trace is sent with its steps only, and the next one as ever', async () => {
  const s = await withTraces()
  const first = await s.project.deploy()
  for (const data of [Buffer.from('no zstd'), Buffer.from(Bun.zstdCompressSync('{"rows":1}'))]) {
    saveTrace(s.t.db, first.id, data)
    await s.send()
    expect(await s.shown()).toMatchObject({ ofTraces: { waiting: 0, problem: null } })
    const { status, json } = await s.ada.get(
      `/projects/${s.project.id}/deployments/${first.id}/trace`,
    )
    expect([status, json.isComplete]).toEqual([200, false])
  }
  await s.project.deploy()
  await s.send()
  expect(s.traces()).toHaveLength(3)
})
