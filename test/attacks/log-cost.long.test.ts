import { afterEach, describe, expect, jest, spyOn, test } from 'bun:test'
import { masking, tailOf } from '../../src/logs/mask.ts'
import { LogWriter } from '../../src/logs/log-writer.ts'
import { insertDeployment, logOf } from '../../src/deployments/store.ts'
import { writeOutput } from '../logs/writing.ts'
import { testApp, withAda } from '../support/app.ts'
import { anEnvironment } from '../logs/collecting.ts'

afterEach(async () => {
  jest.restoreAllMocks()
  await new Promise(setImmediate) // or the next test's first turn began at the time of a mocked clock
})

/** A deployment's log and kept output of about so many characters each, in lines of this text. */
async function aLog({ text, characters }: { text: string; characters: number }) {
  const { t, ada } = withAda(testApp({ DAVIT_LOG_SIZE: '200' }))
  const environment = await anEnvironment(t, ada)
  const deployment = insertDeployment(t.db, {
    projectId: environment.projectId,
    environmentId: environment.id,
    status: 'failed',
    trigger: 'manual',
    triggeredBy: 'ada@example.com',
    repositoryUrl: 'https://git.example.com/team/site.git',
  })
  const count = Math.ceil(characters / text.length)
  const log = new LogWriter(t.deps, logOf(deployment))
  for (let n = 0; n < count; n++) log.write(text, 'stdout')
  log.flush()
  const line = { time: Date.now(), stream: 'stdout', text } as const
  const atOnce = Math.ceil(256_000 / text.length)
  for (let n = 0; n < count; n += atOnce)
    writeOutput(t, { sourceId: environment.id }, Array(Math.min(atOnce, count - n)).fill(line))
  const logs = `/projects/${environment.projectId}/deployments/${deployment.id}/logs`
  return { t, ada, count, project: environment.projectId, paths: [logs, environment.output] }
}

/** How many turns others have while it lasts. */
async function turnsDuring(work: () => Promise<unknown>) {
  let turns = 0
  let isOver = false
  const others = (async () => {
    while (!isOver) {
      await new Promise(setImmediate)
      turns++
    }
  })()
  await work()
  isOver = true
  await others
  return turns
}

const line = `${'a request was served in time, '.repeat(3)}with 200`

describe('while a member has a long log', () => {
  test.each(['search=nowhere', 'download=1', 'before=999999999&process=nowhere'])(
    'read by ?%s, others have their turns',
    async (how) => {
      const { ada, paths } = await aLog({ text: line, characters: 30_000_000 })
      for (const path of paths)
        expect(
          await turnsDuring(async () => {
            const headers = { Accept: 'application/json' }
            await (await ada.send(`${path}?${how}`, { headers })).arrayBuffer()
          }),
        ).toBeGreaterThan(1)
    },
  )

  test('streamed to one who reads as fast as it comes, others have their turns', async () => {
    const { ada, paths } = await aLog({ text: line, characters: 30_000_000 })
    const [logs, output] = paths
    for (const path of [logs!, `${output}/stream`]) {
      const headers = { Accept: 'text/event-stream' }
      const turns = await turnsDuring(async () => {
        const reader = (await ada.send(`${path}?after=0`, { headers })).body!.getReader()
        for (let size = 0; size < 30_000_000;) size += (await reader.read()).value!.length
        await reader.cancel()
      })
      expect(turns).toBeGreaterThan(8)
    }
  })

  test('deleted with its project, others have their turns, and nothing stays', async () => {
    const { t, ada, project } = await aLog({ text: line, characters: 30_000_000 })
    expect(await turnsDuring(() => ada.delete(`/projects/${project}`))).toBeGreaterThan(8)
    expect(t.logDb.$client.query('SELECT 1 FROM output_blocks LIMIT 1').get()).toBeNull()
  })
})

test('of lines that are long and colourful no answer takes more than some MiB', async () => {
  const text = '\u001b[31ma\u001b[0m<'.repeat(1260)
  const { ada, count, paths } = await aLog({ text, characters: 20_000_000 })
  for (const path of paths) {
    const { text, json } = await ada.get(`${path}?limit=10000`)
    expect(text.length).toBeLessThan(4 * 2 ** 20)
    expect(json.nextCursor).toBe(String(json.items.length))
    const rows = await ada.htmx('GET', `${path}?after=0&limit=500`)
    expect(rows.text.length).toBeLessThan(4 * 2 ** 20)
    const page = await ada.page(path.replace(/\/logs$/, ''))
    expect(page.text.length).toBeLessThan(2 * 2 ** 20)
    expect(json.items.length).toBeLessThan(count)
  }
})

test('a search that takes too long says what it has found, and where it goes on', async () => {
  const { ada, count, paths } = await aLog({ text: line, characters: 2_000_000 })
  const { now } = performance
  let late = 0
  spyOn(performance, 'now').mockImplementation(() => now.call(performance) + (late += 5))
  for (const path of paths) {
    let found = 0
    let answers = 0
    for (let cursor: string | null = '0'; cursor !== null; answers++) {
      const { json } = await ada.get(`${path}?search=served&limit=10000&cursor=${cursor}`)
      found += json.items.length
      if (json.nextCursor !== null) expect(json.found ?? null).toBeNull()
      cursor = json.nextCursor
    }
    expect(found).toBe(count)
    expect(answers).toBeGreaterThan(2)
  }
})

describe('to hide secrets in a text takes as long as it is long, also one of nothing but', () => {
  const mask = masking(['a "secret" of ü\\%', '\\'.repeat(5000), 'x'.repeat(5000)])
  const escapes = [
    '\\',
    '%',
    '&',
    '\\n',
    '%41',
    '%c3',
    '\\303',
    '&amp;',
    '\u001b[',
    "'",
    '\\u0041',
    '&a',
  ]

  /** The shortest time of some, for a text of so many characters. */
  function timeOf(unit: string, characters: number) {
    const text = unit.repeat(characters / unit.length)
    const cuts = { before: true, after: true, tail: tailOf(text) }
    const times = Array.from({ length: 3 }, () => {
      const start = performance.now()
      mask(text, { cuts })
      return performance.now() - start
    })
    return Math.min(...times)
  }

  test.each(escapes)('%p', (unit) => {
    const short = timeOf(unit, 100_000)
    expect(timeOf(unit, 1_000_000)).toBeLessThan(Math.max(40 * short, 500))
  })
})

test('of a log of nothing but escapes, read with secrets, others have their turns', async () => {
  const { ada, paths } = await aLog({ text: '\\u005c'.repeat(2500), characters: 30_000_000 })
  const variables = `/envs/${paths[1]!.split('/')[4]}/variables`
  const secret = { key: 'T', value: 'hunter2 "x"', secret: true }
  expect((await ada.post(variables, secret)).status).toBe(201)
  for (const path of paths) {
    const read = () => ada.get(`${path}?search=nowhere`)
    expect(await turnsDuring(read)).toBeGreaterThan(1)
  }
})
