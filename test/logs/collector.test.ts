import { expect, onTestFinished, spyOn, test } from 'bun:test'
import type { LogEntry } from '../../src/docker/index.ts'
import { firstServer } from '../../src/platform/root.ts'
import { aRunning } from '../containers/engine.ts'
import { simulatedApp, testApp, withAda } from '../support/app.ts'
import type { TestApp } from '../support/app.ts'
import {
  allLines,
  anEnvironment,
  collect,
  hasEnded,
  linesUntil,
  marks,
  written,
  collectedEnvironment,
} from './collecting.ts'
import type { Line } from './collecting.ts'
import { until } from '../support/until.ts'
import { storedLines } from './stored-lines.ts'

test('what a container writes is kept in order, between marks of its start and end', async () => {
  const { ada, environment } = await collectedEnvironment()
  await environment.run('seq 1 5000; echo oops >&2; sleep 2; echo later; exit 3')
  const lines = await linesUntil(ada, environment.output, hasEnded)
  const numbers = Array.from({ length: 5000 }, (_, at) => String(at + 1))
  const texts = written(lines)
  expect(texts.filter((text) => text !== 'oops')).toEqual([...numbers, 'later'])
  expect(texts.slice(0, -1)).toContain('oops') // the engine reads the two streams beside each other
  expect(marks(lines)).toEqual(['It started.', 'It ended: exit code 3.'])
  expect(lines.map(({ seq }) => seq)).toEqual(lines.map((_, at) => at + 1))
  expect(await allLines(ada, environment.output)).toEqual(lines)
})

test('what was written while no one collected is found later, once', async () => {
  const { t, ada } = withAda(testApp())
  const environment = await anEnvironment(t, ada)
  const stop = collect(t)
  const id = await environment.run(
    'echo one; until test -e /go; do usleep 50000; done; echo two; echo three; sleep 60',
  )
  await linesUntil(ada, environment.output, ({ text }) => text === 'one')
  await stop()
  await t.docker.putArchive(id, { path: '/', files: [{ path: 'go', content: '', mode: 0o644 }] })
  await until(async () => {
    for await (const [entry] of t.docker.logSnapshot(id, { tty: false, tail: 1 }))
      return entry!.text === 'three'
    return false
  })
  collect(t)
  const lines = await linesUntil(ada, environment.output, ({ text }) => text === 'three')
  expect(written(lines)).toEqual(['one', 'two', 'three'])
  await t.docker.stopContainer(id)
  const all = await linesUntil(ada, environment.output, hasEnded)
  expect(marks(all)).toEqual(['It started.', 'It ended: exit code 143.'])
})

test('a run that began and ended while no one collected is read too', async () => {
  const { t, ada } = withAda(testApp())
  const environment = await anEnvironment(t, ada)
  const stop = collect(t)
  const id = await environment.run('test -e /again && echo two || echo one; touch /again; exit 3')
  await linesUntil(ada, environment.output, hasEnded)
  await stop()
  await t.docker.startContainer(id)
  await t.docker.waitForExit(id)
  collect(t)
  let ends = 0
  const isLast = (line: Line) => hasEnded(line) && ++ends === 2
  expect(written(await linesUntil(ada, environment.output, isLast))).toEqual(['one', 'two'])
})

test('an idle container rings when it writes again', async () => {
  const { ada, environment } = await collectedEnvironment()
  await environment.run('echo one; sleep 5; date +%s; sleep 60')
  const lines = await linesUntil(ada, environment.output, ({ text }) => /^\d+$/.test(text))
  expect(Date.now() / 1000 - Number(lines.at(-1)!.text)).toBeLessThan(30) // it is looked at each minute though nothing rings
})

test('a container that restarts in a loop leaves a mark for each start and end', async () => {
  const { ada, environment } = await collectedEnvironment()
  await environment.run('echo up; exit 1', { restart: { name: 'on-failure', maximumRetries: 3 } })
  let ends = 0
  const lines = await linesUntil(ada, environment.output, (line) => hasEnded(line) && ++ends === 4)
  expect(
    lines.map(({ stream, text }) =>
      stream === 'system' ? marks([{ stream, text } as never])[0] : text,
    ),
  ).toEqual([
    'It started.',
    'up',
    'It ended: exit code 1.',
    ...Array.from({ length: 3 }, () => [
      'It started again.',
      'up',
      'It ended: exit code 1.',
    ]).flat(),
  ])
})

/** Uses up its memory once told to: by then the engine listens for that, which it misses in one that ends at once. */
async function ranOut(
  t: TestApp,
  environment: Awaited<ReturnType<typeof anEnvironment>>,
  eat = 'exec tail -c 200m /dev/zero',
) {
  const id = await environment.run(
    `until test -e /go; do usleep 50000; done; echo eating; ${eat}`,
    { memoryBytes: 16 * 2 ** 20, init: false },
  )
  await t.docker.putArchive(id, { path: '/', files: [{ path: 'go', content: '', mode: 0o644 }] })
}

test('a container that used up its memory is said to have', async () => {
  const { t, ada, environment } = await collectedEnvironment()
  await ranOut(t, environment)
  const lines = await linesUntil(ada, environment.output, hasEnded)
  expect(written(lines)).toEqual(['eating'])
  expect(marks(lines).at(-1)).toBe('It ended: exit code 137, out of memory.')
})

test('a process that is killed for memory while the app lives on is marked', async () => {
  const { t, ada, environment } = await collectedEnvironment()
  await ranOut(t, environment, 'tail -c 200m /dev/zero; echo lives; sleep 60')
  const isLost = (line: Line) => marks([line])[0]?.includes('16.0 MiB') === true
  const lines = await linesUntil(ada, environment.output, isLost)
  expect(marks(lines)).toEqual(['It started.', expect.any(String)])
})

test('the reason of a kill is waited for where the engine reports it later than the end', async () => {
  const t = testApp()
  t.faults.events = async function* (options) {
    for await (const event of t.docker.events(options)) if (event.action !== 'oom') yield event
  }
  const shown = <Found extends object>(found: Found | null, oomKilled: boolean) =>
    found && { ...found, oomKilled }
  t.faults.inspectContainer = async (...of) => shown(await t.docker.inspectContainer(...of), false)
  t.faults.inspectEnded = async (...of) => shown(await t.docker.inspectEnded(...of), true)
  const ada = t.logIn('ada@example.com')
  const environment = await anEnvironment(t, ada)
  collect(t)
  await ranOut(t, environment)
  const lines = await linesUntil(ada, environment.output, hasEnded)
  expect(marks(lines).at(-1)).toBe('It ended: exit code 137, out of memory.')
})

test('the end of a container that someone killed is marked at once, without that reason', async () => {
  const t = testApp()
  t.faults.inspectEnded = () => Promise.reject(new Error('There is no reason to wait for.'))
  const ada = t.logIn('ada@example.com')
  const environment = await anEnvironment(t, ada)
  collect(t)
  const id = await environment.run('sleep 60', { init: false })
  await t.docker.stopContainer(id, { timeoutSeconds: 0 })
  const lines = await linesUntil(ada, environment.output, hasEnded)
  const killed = 'It ended: exit code 137, killed 0 s after it was asked to stop.'
  expect(marks(lines)).toEqual(['It started.', killed])
})

test('an event of a server that is away by now ends the reading of no other', async () => {
  const t = testApp()
  const elsewhere = { id: 'f'.repeat(64), serverId: '00000000-0000-7000-8000-000000000002' }
  t.faults.events = async function* (options) {
    for await (const event of t.docker.events(options)) {
      yield { ...event, ...elsewhere }
      yield event
    }
  }
  const ada = t.logIn('ada@example.com')
  const environment = await anEnvironment(t, ada)
  collect(t)
  await environment.run('echo here')
  const lines = await linesUntil(ada, environment.output, hasEnded)
  expect(written(lines)).toEqual(['here'])
})

test('what a container writes after its clock was put back is kept, once, also what was read by no one then', async () => {
  const { t, ada } = withAda(simulatedApp())
  const { id, environment } = await aRunning(t, ada, 'sleep 99')
  const key = { id, serverId: firstServer }
  const start = Date.now() + 1000
  const clock = spyOn(Date, 'now')
  onTestFinished(() => void clock.mockRestore())
  const entries: LogEntry[] = []
  const write = (minute: number, text: string) => {
    const at = start + minute * 60_000
    clock.mockReturnValue(at)
    const timestamp = new Date(at).toISOString().replace('Z', '000000Z')
    entries.push({ stream: 'stdout', timestamp, text, ended: true })
  }
  t.faults.logSnapshot = async function* (_, { since = '0', tail = Infinity }) {
    const isSince = ({ timestamp }: LogEntry) => Date.parse(timestamp) / 1000 >= Number(since)
    yield entries.slice(-tail).filter(isSince) // as the engine does
  }
  const kept = () =>
    storedLines(t.logDb, { sourceId: environment.id, logId: '' }).map(({ text }) => text)
  const finish = () => t.deps.collector.finish(key)

  const stop = collect(t)
  write(60, 'an hour ahead')
  await finish()
  write(0, 'put back')
  await finish()
  write(1, 'later')
  await finish()
  await stop()
  write(70, 'ahead again')
  write(2, 'put back again')
  write(80, 'right')
  collect(t)
  await until(() => kept().includes('right'))
  await finish()
  expect(kept().filter((text) => !/^Container /.test(text))).toEqual(
    entries.map(({ text }) => text),
  )
})
