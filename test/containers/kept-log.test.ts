import { expect, onTestFinished, spyOn, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { instances } from '../../src/db/schema.ts'
import { newId } from '../../src/db/new-id.ts'
import { anEnvironment, collect, hasEnded, linesUntil } from '../logs/collecting.ts'
import { writeOutput } from '../logs/writing.ts'
import { simulatedApp, testApp, withAda } from '../support/app.ts'
import { aRunning } from './engine.ts'
import type { Event } from './log-stream.ts'
import { EventStream, followLog, isEvent, isLine, notesOf, textsOf } from './log-stream.ts'

test('it has the lines of that container alone, and marks of its starts and ends', async () => {
  const t = testApp()
  collect(t)
  const ada = t.logIn('ada@example.com')
  const { id, environment, project } = await aRunning(
    t,
    ada,
    'echo mine; sleep 0.2; echo bad >&2; exit 3',
  )
  const output = `/projects/${project.id}/envs/${environment.id}/output`
  await linesUntil(ada, output, hasEnded)
  const other = { sourceId: environment.id, deploymentId: '', name: 'another' }
  writeOutput(t, other, [{ time: Date.now(), stream: 'stdout', text: 'not mine' }])

  const { items } = (await ada.get(`/containers/${id}/logs`)).json
  const texts = items.map(({ text }: { text: string }) => text)
  expect(texts).toEqual([
    expect.stringMatching(/^Container .* started\.$/),
    'mine',
    'bad',
    expect.stringMatching(/ended: exit code 3\.$/),
  ])
  const { json } = await ada.get(`/containers/${id}/logs?search=BA&stream=stderr`)
  expect(json.items).toMatchObject([{ stream: 'stderr', text: 'bad' }])
  expect((await ada.get(`/containers/${id}/logs?tail=2`)).json.items).toEqual(items.slice(-2))
  expect((await ada.get(`/containers/${id}/logs?since=1h&until=30m`)).json.items).toEqual([])
  const { text } = await ada.get(`/containers/${id}/logs?download=1`)
  expect(text.trim().split('\n')).toHaveLength(4)
})

test.each(['run', 'deployment'])(
  'that of a command has what its %s’s log has since it was created, and leads there',
  async (kind) => {
    const { t, ada } = withAda(simulatedApp())
    const { id, deployment, environment, project } = await aRunning(t, ada, 'sleep 99')
    const jobId = kind === 'run' ? newId() : deployment.id
    const once = { id: jobId, state: 'once' as const }
    t.db.update(instances).set(once).where(eq(instances.containerId, id)).run()
    const created = (await t.docker.inspectContainer(id))!.createdAt.getTime()
    const log = { sourceId: environment.id, logId: jobId }
    t.logs.write(log, [
      { time: created - 1000, stream: 'stdout', text: 'built' },
      { time: created + 1000, stream: 'stdout', text: 'first' },
    ])
    expect((await ada.get(`/containers/${id}/logs`)).json.items).toMatchObject([{ text: 'first' }])
    const stream = await followLog(ada, id)
    t.logs.write(log, [{ time: created + 2000, stream: 'stderr', text: 'second' }])
    expect(textsOf(await stream.until(isLine('second')))).toEqual(['first', 'second'])
    const { text } = await ada.page(`/containers/${id}`)
    const page =
      kind === 'run' ? `/envs/${environment.id}/runs` : `/projects/${project.id}/deployments`
    expect(text).toContain('>first<')
    expect(text).toContain(`<a href="${page}/${jobId}">the log of the ${kind}</a>`)
  },
)

test('an id is a time of the engine, and resumes behind its line; a time alone resumes there', async () => {
  const { t, ada } = withAda(testApp())
  const { id, deployment, environment } = await aRunning(t, ada, 'sleep 99')
  const container = (await t.docker.inspectContainer(id))!
  const at = (n: number) => container.createdAt.getTime() + n * 1000
  const of = { sourceId: environment.id, deploymentId: deployment.id, name: container.name }
  for (const n of [1, 2, 3])
    writeOutput(t, of, [{ time: at(n), stream: 'stdout', text: String(n) }])
  const lastEventId = new Date(at(2)).toISOString().replace('Z', '000001Z')
  const stream = await followLog(ada, id, { lastEventId })
  expect(textsOf(await stream.until(isLine('3')))).toEqual(['2', '3'])
  const { items } = (await ada.get(`/containers/${id}/logs`)).json
  expect(items[1].id).toStartWith(new Date(at(2)).toISOString().slice(0, -1))
  for (const seen of [items[1].id, '2']) {
    const again = await followLog(ada, id, { lastEventId: seen })
    expect(textsOf(await again.until(isLine('3')))).toEqual(['3'])
  }
})

test('who follows it and who follows its app get ids of the address that each of them follows', async () => {
  const { t, ada } = withAda(simulatedApp())
  const { id, deployment, environment, project } = await aRunning(t, ada, 'sleep 99')
  const { name } = (await t.docker.inspectContainer(id))!
  const origin = { deploymentId: deployment.id, container: name, process: 'web', replica: null }
  const state = t.masks.stateOf(environment.id) // what is masked already is shared by all who follow it
  const write = (text: string) =>
    t.logs.write(
      { sourceId: environment.id, logId: '' },
      [{ time: Date.now(), stream: 'stdout', text, origin }],
      { state },
    )
  write('before')
  const path = `/projects/${project.id}/envs/${environment.id}/output/stream`
  const headers = { Accept: 'text/event-stream' }
  const streams = [
    await followLog(ada, id, { format: 'html' }),
    new EventStream(await ada.send(path, { headers })),
  ]
  const idsOf = (text: string) =>
    Promise.all(
      streams.map(async (one) => (await one.until(({ data }) => data.includes(text))).at(-1)!.id),
    )
  await idsOf('before')
  write('stored or new')
  await idsOf('stored or new') // both have begun to follow
  write('after')
  expect(await idsOf('after')).toEqual([expect.stringMatching(/Z\/3$/), '3'])
})

test('with a tail of no lines, only what is written from then on is sent', async () => {
  const { t, ada } = withAda(testApp())
  const { id, deployment, environment } = await aRunning(t, ada, 'sleep 99')
  const { name } = (await t.docker.inspectContainer(id))!
  const write = (text: string) =>
    writeOutput(t, { sourceId: environment.id, deploymentId: deployment.id, name }, [
      { time: Date.now(), stream: 'stdout', text },
    ])
  write('before')
  expect((await ada.get(`/containers/${id}/logs?tail=0`)).json.items).toEqual([])
  const stream = await followLog(ada, id, { tail: '0' })
  const first = await stream.until(isEvent('state', 'running'))
  write('after')
  expect(textsOf([...first, ...(await stream.until(isLine('after')))])).toEqual(['after'])
})

test('since 1970 it has all lines, and until then none', async () => {
  const { t, ada } = withAda(testApp())
  const { id, deployment, environment } = await aRunning(t, ada, 'sleep 99')
  const { name } = (await t.docker.inspectContainer(id))!
  const lines = Array.from({ length: 600 }, (_, at) => {
    return { time: Date.now() + 60_000, stream: 'stdout' as const, text: String(at + 1) }
  })
  writeOutput(t, { sourceId: environment.id, deploymentId: deployment.id, name }, lines)
  const epoch = '1970-01-01T00:00:00Z'
  const { items } = (await ada.get(`/containers/${id}/logs?since=${epoch}`)).json
  expect(items).toHaveLength(600)
  const all = await followLog(ada, id, { since: epoch })
  expect(textsOf(await all.until(isLine('600')))).toHaveLength(600)
  const none = await followLog(ada, id, { until: epoch })
  expect(await none.rest()).toMatchObject([{ event: 'done', data: 'until' }])
})

test('who follows hears that it stops, starts again and goes, when the last lines are there', async () => {
  const t = testApp()
  collect(t)
  const ada = t.logIn('ada@example.com')
  const { id } = await aRunning(t, ada, 'echo hello; trap "echo bye; exit 3" TERM; sleep 99 & wait')
  const stream = await followLog(ada, id)
  await stream.until(isLine('hello'))
  await t.docker.stopContainer(id)
  const awaited = [isEvent('state', 'exited'), ({ data }: Event) => data.includes('exit code 3')]
  const stopped = await stream.until((event) => {
    for (const [at, is] of awaited.entries()) if (is(event)) awaited.splice(at, 1)
    return awaited.length === 0
  })
  expect(textsOf(stopped)).toContain('bye')
  await t.docker.startContainer(id)
  const again = await stream.until(isLine('hello'))
  expect(notesOf(again).join()).toContain('started again')
  await t.docker.removeContainer(id, { force: true })
  expect((await stream.rest()).at(-1)).toMatchObject({ event: 'done', data: 'removed' })
})

test('a container that has written nothing yet is followed from its first line on', async () => {
  const { t, ada } = withAda(testApp())
  const environment = await anEnvironment(t, ada)
  expect((await ada.get(`${environment.output}`)).json.items).toEqual([])
  const { id } = await aRunning(t, ada, 'sleep 1; echo first; sleep 99')
  const stream = await followLog(ada, id)
  collect(t)
  expect(textsOf(await stream.until(isLine('first')))).toEqual(['first'])
})

test('many who come at once cost a slow engine a look at their container or two, not one each', async () => {
  const { t, ada } = withAda(testApp({ DAVIT_STREAMS_PER_USER: '60' }))
  const { id } = await aRunning(t, ada, 'sleep 99')
  const { inspectContainer, info } = t.docker
  const pulse = Promise.withResolvers<void>()
  const asked = { looks: 0, pulses: 0 }
  t.faults.inspectContainer = async (...given) => {
    asked.looks++
    await pulse.promise // it answers when it is asked whether it is there
    return inspectContainer(...given)
  }
  t.faults.info = (...given) => {
    asked.pulses++
    pulse.resolve()
    return info(...given)
  }
  const viewers = await Promise.all(Array.from({ length: 50 }, () => followLog(ada, id)))
  await Promise.all(viewers.map((viewer) => viewer.until(isEvent('state', 'running'))))
  expect(asked.looks).toBeLessThan(10)
  expect(asked.pulses).toBeLessThan(10)
})

test('what its container wrote last is read when someone asks for it', async () => {
  const { t, ada } = withAda(simulatedApp())
  const { id, deployment, environment } = await aRunning(t, ada, 'sleep 99')
  const { name } = (await t.docker.inspectContainer(id))!
  const of = { sourceId: environment.id, deploymentId: deployment.id, name }
  const over = new AbortController()
  onTestFinished(() => over.abort())
  let asked = 0
  const read = () =>
    writeOutput(t, of, [{ time: Date.now(), stream: 'stdout', text: `read ${++asked}` }])
  t.logs.whenFollowed({ sourceId: environment.id, logId: '' }, over.signal, read) // as its reader waits
  const path = `/containers/${id}/logs`
  for (const query of ['', '?limit=9', '?after=0', '?download=1']) {
    const { text } = await ada.get(path + query)
    expect([query, text]).toEqual([query, expect.stringContaining(`read ${asked}`)])
  }
  expect(asked).toBe(4)
  await ada.get(`${path}?before=2`)
  expect(asked).toBe(4)
})

test('a file of the last lines that pass has all that were asked for, however long they take to find', async () => {
  const { t, ada } = withAda(simulatedApp())
  const { id, deployment, environment } = await aRunning(t, ada, 'sleep 99')
  const { name } = (await t.docker.inspectContainer(id))!
  const texts = ['wanted 1', 'wanted 2', ...Array<string>(3500).fill('other'), 'wanted 3']
  const at = { time: Date.now() + 60_000, stream: 'stdout' as const }
  writeOutput(
    t,
    { sourceId: environment.id, deploymentId: deployment.id, name },
    texts.map((text) => ({ ...at, text })),
  )
  const { now } = performance
  let late = 0
  using _ = spyOn(performance, 'now').mockImplementation(
    () => now.call(performance) + (late += 3000),
  )
  const { text } = await ada.get(`/containers/${id}/logs?download=1&tail=2&search=wanted`)
  expect(text.match(/wanted \d/g)).toEqual(['wanted 2', 'wanted 3'])
})
