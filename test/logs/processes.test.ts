import { expect, test } from 'bun:test'
import { insertInstance, insertRelease, updateInstance } from '../../src/runtime/store.ts'
import { aCommand, aProject } from '../deployments/apps.ts'
import { made } from '../services/instances.ts'
import { testApp, withAda } from '../support/app.ts'
import { allLines, anEnvironment, collect, linesUntil, written } from './collecting.ts'
import type { Line } from './collecting.ts'
import { writeOutput } from './writing.ts'

const start = Date.parse('2026-11-20T03:00:00Z')

const slots = [
  { component: 'web', slot: 0 },
  { component: 'worker', slot: 0 },
  { component: 'worker', slot: 1 },
]

/** An environment whose release has a web process and two workers, which have written lines in turns. */
async function threeContainers() {
  const { t, ada } = withAda(testApp())
  const environment = await anEnvironment(t, ada)
  const id = Bun.randomUUIDv7()
  const workload = { id: environment.id, kind: 'app' as const }
  const rows = insertRelease(t.db, { workload, id, components: null, slots })
  const write = (n: number) => {
    const { component: process, slot } = slots[n % 3]!
    const origin = { process, replica: process === 'worker' ? slot + 1 : null }
    const cursor = { sourceId: environment.id, deploymentId: id, name: `c${n % 3}`, ...origin }
    writeOutput(t, cursor, [{ time: start + n * 1000, stream: 'stdout', text: `line ${n}` }])
  }
  for (let n = 0; n < 9; n++) write(n)
  const get = async (query: string) => (await ada.get(`${environment.output}?${query}`)).json
  return { ...environment, id, t, ada, rows, write, get }
}

const whoWrote = (lines: Line[]) => lines.map(({ process, replica }) => [process, replica])

test('each line says which process wrote it, and several can be chosen', async () => {
  const { get } = await threeContainers()
  const all = await get('')
  expect(all.processes).toEqual([
    { process: 'web', replicas: 1 },
    { process: 'worker', replicas: 2 },
  ])
  expect(whoWrote(all.items.slice(0, 3))).toEqual([
    ['web', null],
    ['worker', 1],
    ['worker', 2],
  ])
  const texts = async (query: string) => (await get(query)).items.map(({ text }: Line) => text)
  expect(await texts('process=web')).toEqual(['line 0', 'line 3', 'line 6'])
  expect(await texts('process=worker%202')).toEqual(['line 2', 'line 5', 'line 8'])
  expect(await texts('process=web&process=worker%201&search=line&limit=3')).toEqual([
    'line 0',
    'line 1',
    'line 3',
  ])
  expect(await texts('process=nothing')).toEqual([])
  expect(await texts(`process=${encodeURIComponent("w' OR 1=1--")}`)).toEqual([])
})

test('the filter holds for what is followed, downloaded and read backwards', async () => {
  const { ada, output, write } = await threeContainers()
  const all = linesUntil(ada, output, ({ text }) => text === 'line 10')
  const workers = linesUntil(
    ada,
    output,
    ({ text }) => text === 'line 10',
    '&process=worker&process=nothing',
  )
  write(9)
  write(10)
  expect(written(await all)).toHaveLength(11)
  expect(written(await workers)).toEqual([1, 2, 4, 5, 7, 8, 10].map((n) => `line ${n}`))
  const file = (await ada.get(`${output}?download=1&process=worker`)).text
  expect(file.split('\n')[1]).toBe('2026-11-20T03:00:02.000Z worker 2 | line 2')
  const before = await ada.get(`${output}?process=worker&before=9&limit=2`)
  expect(written(before.json.items)).toEqual(['line 5', 'line 7'])
  expect(before.headers.get('Link')).toContain('?process=worker&limit=2&before=6>; rel="prev"')
  const rest = await ada.get(`${output}?process=worker&before=6&limit=9`)
  expect(rest.json.items).toHaveLength(3)
  expect(rest.headers.get('Link')).toBe(null)
})

test('the page offers each process, and shows the lines of those that are chosen', async () => {
  const { ada, output } = await threeContainers()
  const all = (await ada.page(output)).text
  expect(all).toContain('class="log wrap kept joined fills"')
  expect(all).toContain('<b>worker 2</b><span>line 8</span>')
  expect(all).toContain(`<a class="process p1" href="${output}?process=worker">`)
  const one = (await ada.page(`${output}?process=web`)).text
  expect(one).toContain('line 6')
  expect(one).not.toContain('line 7')
  expect(one).toContain(`href="${output}" aria-current="true"><bdi>web</bdi>`)
  expect(one).toContain(`href="${output}?process=web&amp;process=worker"`)
  expect(one).toContain(`href="${output}?download=1&amp;process=web"`)
  expect(one).toContain(`hx-sse:connect="${output}/stream?after=9&amp;live=`)
  expect(one).toMatch(/hx-sse:connect="[^"]*&amp;process=web"/)
  const second = (await ada.page(`${output}?process=worker+2`)).text
  expect(second).toContain(`<a class="process p1" href="${output}" aria-current="true">`)
  const odd = (await ada.page(`${output}?process=%3Cscript%3E`)).text
  expect(odd).toContain('<bdi>&lt;script&gt;</bdi>')
})

test('the log of one process alone has nothing to choose', async () => {
  const { t, ada, id } = await threeContainers()
  const alone = await anEnvironment(t, ada)
  const cursor = { sourceId: alone.id, deploymentId: id, name: 'c' }
  const line = { time: start, stream: 'stdout', text: 'from before' } as const
  writeOutput(t, cursor, [line])
  const { text } = await ada.page(alone.output)
  expect(text).toContain('class="log wrap kept fills"')
  expect(text).toMatch(/<nav class="log-choice log-processes"[^>]* hidden/)
  expect(text).toContain('</a><span>from before</span>')
  expect((await ada.get(alone.output)).json.items[0].process).toBe(null)
})

const two = `
services:
  db:
    image: busybox
    command: [sh, -c, "echo db is up; sleep 9999"]
    init: true
    stop_grace_period: 1s
  app:
    image: busybox
    command: [sh, -c, "echo app is up, $$TOKEN; sleep 9999"]
    environment: { TOKEN: "\${TOKEN_SECRET}" }
    init: true
    stop_grace_period: 1s
    depends_on: [db]
`

test('what the components of a service write is distinguished, without its secrets', async () => {
  const { t, ada } = withAda(testApp())
  collect(t)
  const service = await made(t, ada, two, { TOKEN_SECRET: 'never-to-be-seen' })
  const output = `/services/${service.id}/output`
  await linesUntil(ada, output, ({ process, stream }) => process === 'app' && stream === 'stdout')
  const lines = await allLines(ada, output, '&stream=stdout')
  expect(Object.fromEntries(lines.map(({ process, text }) => [process, text]))).toEqual({
    db: 'db is up',
    app: 'app is up, ***',
  })
  expect(written(await allLines(ada, output, '&process=db'))).toEqual(['db is up'])
  expect((await ada.page(output)).text).toContain(`href="${output}?process=app"`)
})

test('what ended long before a log begins is not offered any more', async () => {
  const { t, ada, output, id, rows } = await threeContainers()
  const ended = { state: 'removed' as const, createdAt: new Date(start - 1) }
  for (const { id } of rows) updateInstance(t.db, id, ended)
  const names = async () =>
    (await ada.get(output)).json.processes.map(({ process }: { process: string }) => process)
  expect(await names()).toEqual(['web', 'worker'])
  const of = { workloadId: rows[0]!.workloadId, releaseId: id, ...ended }
  for (let count = 0; count < 20; count++) insertInstance(t.db, { ...of, component: 'clock' })
  expect(await names()).toEqual(['clock'])
})

test('an app’s processes write one log, which outlives them', async () => {
  const t = testApp()
  const ada = t.logInAsAdmin('ada@example.com')
  collect(t)
  const project = await aProject(t, ada, aCommand('echo web is up; exec sleep 9999'))
  await project.set({ key: 'TOKEN', value: 'never-to-be-seen', secret: true })
  const command = ['sh', '-c', 'echo works with $TOKEN; exec sleep 9999']
  const processes = [
    { name: 'web', replicas: 1 },
    { name: 'worker', command, replicas: 2 },
  ]
  await project.configure({ port: 0, processes })
  expect((await project.deploy()).status).toBe('running')
  await project.configure({ processes: processes.slice(0, 1) })
  expect((await project.deploy()).status).toBe('running')
  await t.jobs.idle()

  const output = `/projects/${project.id}/envs/${project.environmentId}/output`
  await linesUntil(
    ada,
    output,
    seen(2, ({ text }) => text === 'web is up'),
  )
  const lines = await allLines(ada, output)
  const written = lines.filter(({ stream }) => stream === 'stdout')
  expect(
    written.map(({ process, replica, text }) => `${process} ${replica}: ${text}`).sort(),
  ).toEqual([
    'web null: web is up',
    'web null: web is up',
    'worker 1: works with ***',
    'worker 2: works with ***',
  ])
  const { json } = await ada.get(output)
  expect(json.processes).toEqual([
    { process: 'web', replicas: 1 },
    { process: 'worker', replicas: 2 },
  ])
})

/** True for the nth line that is so. */
function seen(count: number, isSo: (line: Line) => boolean) {
  let found = 0
  return (line: Line) => isSo(line) && ++found === count
}
