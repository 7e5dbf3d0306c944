import { describe, expect, spyOn, test } from 'bun:test'
import { storedLines } from '../logs/stored-lines.ts'
import { LogWriter } from '../../src/logs/log-writer.ts'
import { Masks } from '../../src/logs/masks.ts'
import { insertDeployment } from '../../src/deployments/store.ts'
import { readEvents } from '../demo/events.ts'
import { testApp, withAda } from '../support/app.ts'
import type { TestApp } from '../support/app.ts'
import type { TestClient } from '../support/client.ts'
import { aBuild, anApp, aProject, finished, logOf } from './apps.ts'
import { eventsOf, pathOf } from './events.ts'
import type { Key } from './events.ts'

/** A deployment that has ended, with these lines. */
async function aLog(t: TestApp, client: TestClient, lines: string[]) {
  const project = await aProject(t, client, anApp('x'))
  const deployment = insertDeployment(t.db, {
    projectId: project.id,
    environmentId: project.environmentId,
    status: 'failed',
    trigger: 'manual',
    triggeredBy: 'ada@example.com',
    repositoryUrl: project.repository.url,
  })
  const writer = new LogWriter(t.deps, {
    sourceId: project.environmentId,
    logId: deployment.id,
  })
  for (const line of lines) writer.write(line, 'stdout')
  writer.flush()
  return deployment
}

const numbered = (count: number) => Array.from({ length: count }, (_, at) => `line ${at + 1}`)

describe('a build of 20,000 lines', () => {
  /** Reads the log to its end, leaving and coming back after random numbers of lines. */
  async function readWithBreaks(
    client: TestClient,
    deployment: Key,
    resume: (last: number) => { after?: number; lastEventId?: number },
  ) {
    const seen: number[] = []
    for (let ended = false; !ended;) {
      let rest = Math.floor(Math.random() * 3000)
      for await (const { name, id } of eventsOf(client, deployment, resume(seen.at(-1) ?? 0))) {
        if (name === 'message') seen.push(Number(id))
        if (name === 'done') ended = true
        if (--rest < 0) break
      }
    }
    return seen
  }

  /** Takes nothing for a while, as a phone in a tunnel. */
  async function readLate(client: TestClient, deployment: Key, until: Promise<unknown>) {
    const headers = { Accept: 'text/event-stream' }
    const response = await client.send(`${pathOf(deployment)}/logs`, { headers })
    await until
    const seen: number[] = []
    for await (const { name, id } of readEvents(response.body!))
      if (name === 'message') seen.push(Number(id))
    return seen
  }

  test('reaches every reader whole and in order, whether it stays, comes back, or stalls', async () => {
    const { t, ada } = withAda(testApp())
    const noise = 'seq 1 5000; echo é >&2'
    const files = {
      Dockerfile: `FROM busybox\n${Array.from({ length: 4 }, () => `RUN ${noise} # ${crypto.randomUUID()}\n`).join('')}CMD []\n`,
    }
    const project = await aProject(t, ada, files)
    const deployment = await project.trigger()
    const end = finished(ada, deployment)

    const readers = await Promise.all([
      readWithBreaks(ada, deployment, (lastEventId) => ({ lastEventId })),
      readWithBreaks(ada, deployment, (after) => ({ after })),
      readLate(ada, deployment, end),
      readWithBreaks(ada, deployment, (last) => ({ after: 0, lastEventId: last })),
    ])

    const log = { sourceId: project.environmentId, logId: deployment.id }
    const stored = storedLines(t.logDb, log)
    expect(stored.length).toBeGreaterThan(20_000)
    expect(stored.map(({ sequence }) => sequence)).toEqual(stored.map((_, at) => at + 1))
    for (const seen of readers) expect(seen).toEqual(stored.map(({ sequence }) => sequence))
  }, 60_000)
})

test('secrets of the environment show up in no log and no error, in whatever form', async () => {
  const { t, ada } = withAda(testApp())
  const secret = 's3cr3t+/&"quoted'
  const print = 'echo "$TOKEN"; printf %s "$TOKEN" | base64; echo "$TOKEN" | base64'
  const files = aBuild(`${print}; exit 1`)
  const project = await aProject(t, ada, {
    Dockerfile: (files.Dockerfile as string).replace('busybox\n', 'busybox\nARG TOKEN\n'),
  })
  await project.set({ key: 'TOKEN', value: secret, secret: true, buildTime: true })

  const deployment = await project.deploy({ branch: 'main' })
  const log = await logOf(ada, deployment)

  expect(deployment.status).toBe('failed')
  expect(log.filter((line) => /\*\*\*=*$/.test(line))).toHaveLength(3)
  const everything = JSON.stringify([log, deployment])
  for (const form of [secret, JSON.stringify(secret).slice(1, -1), btoa(secret).slice(0, 12)])
    expect(everything).not.toContain(form)

  const named = await aProject(t, ada, anApp('x'), { name: 'named' })
  await named.set({ key: 'TOKEN', value: 'hidden-branch', secret: true })
  const { error } = await named.deploy({ branch: 'hidden-branch' })
  expect(error.message).toContain('“***”')
})

test('the steps of a log that is over are found once, until there is another secret', async () => {
  const { t, ada } = withAda(testApp())
  const deployment = await aLog(t, ada, ['Error: no door for open-sesame-1'])
  using read = spyOn(Masks.prototype, 'of')
  const readsOf = async () => {
    read.mockClear()
    const { text } = await ada.page(pathOf(deployment))
    return { count: read.mock.calls.length, said: text.includes('open-sesame-1') }
  }
  const first = await readsOf()
  expect(await readsOf()).toEqual({ count: first.count - 1, said: true })
  const variable = { key: 'TOKEN', value: 'open-sesame-1', secret: true }
  await ada.post(`/envs/${deployment.environmentId}/variables`, variable)
  expect(await readsOf()).toEqual({ count: first.count, said: false })
})

test('the stream of an ended deployment replays its lines, shows its state and closes', async () => {
  const { t, ada } = withAda(testApp())
  const deployment = await aLog(t, ada, numbered(2500))
  const events = await Array.fromAsync(eventsOf(ada, deployment))
  expect(events.slice(0, -2).map(({ id }) => Number(id))).toEqual(
    Array.from({ length: 2500 }, (_, at) => at + 1),
  )
  expect(events.slice(-2)).toEqual([
    { name: 'status', id: null, data: 'failed' },
    { name: 'done', id: null, data: 'failed' },
  ])
})

test('a stream resumes after the line that it is told, and repeats none after one that never was', async () => {
  const { t, ada } = withAda(testApp())
  const deployment = await aLog(t, ada, numbered(10))
  const idsFrom = async (from: Parameters<typeof eventsOf>[2]) =>
    (await Array.fromAsync(eventsOf(ada, deployment, from))).flatMap(({ id }) => id ?? [])
  expect(await idsFrom({ lastEventId: 8 })).toEqual(['9', '10'])
  expect(await idsFrom({ after: 9 })).toEqual(['10'])
  expect(await idsFrom({ after: 3, lastEventId: 9 })).toEqual(['10'])
  expect(await idsFrom({ after: 10 })).toEqual([])
  expect(await idsFrom({ lastEventId: 11 })).toEqual([])
  expect(await idsFrom({ after: 78 })).toEqual([])
  for (const odd of ['NaN', '-4', '1e99', '999999999999999999999'])
    expect(await idsFrom({ lastEventId: odd as never })).toHaveLength(10)
})

test('no text of a line breaks out of its event', async () => {
  const { t, ada } = withAda(testApp())
  const lines = [
    'a\ndata: x\n\nevent: close',
    'b\rc',
    'd\u2028e',
    'id: 999',
    '<script>alert(1)</script>',
  ]
  const deployment = await aLog(t, ada, lines)

  const headers = { Accept: 'text/event-stream' }
  const path = `${pathOf(deployment)}/logs`
  const json = await (await ada.send(`${path}?format=json`, { headers })).text()
  const data = json.split(/\r\n|\r|\n/).filter((line) => line.startsWith('data: {'))
  expect(data.map((line) => JSON.parse(line.slice(6)).text)).toEqual(lines)
  expect(json.match(/^id: .*$/gm)).toEqual(['id: 1', 'id: 2', 'id: 3', 'id: 4', 'id: 5'])

  const html = await (await ada.send(path, { headers })).text()
  expect(html).not.toContain('<script>')
  expect(html.match(/^event: (.*)$/gm)).toEqual(['event: status', 'event: done'])
  expect(html.match(/^id: .*$/gm)).toHaveLength(5)
})

describe('the log as a resource', () => {
  test('comes in pages', async () => {
    const { t, ada } = withAda(testApp())
    const path = `${pathOf(await aLog(t, ada, numbered(12)))}/logs`
    const first = (await ada.get(`${path}?limit=10`)).json
    expect(first.items).toHaveLength(10)
    expect(first.items[0]).toEqual({
      seq: 1,
      time: expect.any(String),
      stream: 'stdout',
      text: 'line 1',
    })
    expect(first.nextCursor).toBe('10')
    const second = (await ada.get(`${path}?limit=10&after=${first.nextCursor}`)).json
    expect(second.items.map(({ seq }: { seq: number }) => seq)).toEqual([11, 12])
    expect(second.nextCursor).toBeNull()
  })

  test('is searched, with a count, and nothing in the text is a pattern', async () => {
    const { t, ada } = withAda(testApp())
    const path = `${pathOf(await aLog(t, ada, ['100% done', '100 done', 'A_b', 'axb', 'ERROR x', 'error y', 'back\\slash']))}/logs`
    const hits = async (search: string, more = '') => {
      const { json } = await ada.get(`${path}?search=${encodeURIComponent(search)}${more}`)
      return [json.found, json.items.map(({ text }: { text: string }) => text)]
    }
    expect(await hits('100%')).toEqual([1, ['100% done']])
    expect(await hits('a_b')).toEqual([1, ['A_b']])
    expect(await hits('error')).toEqual([2, ['ERROR x', 'error y']])
    expect(await hits('error', '&limit=1')).toEqual([2, ['ERROR x']])
    expect(await hits('\\')).toEqual([1, ['back\\slash']])
    expect(await hits('nothing')).toEqual([0, []])
  })

  test('is followed with its filters, and not where its end or the lines before one are asked for', async () => {
    const { t, ada } = withAda(testApp())
    const deployment = await aLog(t, ada, ['INFO old', 'ERROR old'])
    const log = { sourceId: deployment.environmentId, logId: deployment.id }
    const time = Date.now() + 3_600_000
    const stream = 'stderr'
    t.logs.write(
      log,
      ['ERROR new', 'INFO new'].map((text) => ({ time, stream, text })),
    )
    const path = `${pathOf(deployment)}/logs?format=json`
    const textsOf = async (query: string) => {
      const text = await (await ada.send(path + query)).text()
      return Array.from(text.matchAll(/"text":"([^"]*)"/g), ([, found]) => found)
    }
    const since = `&since=${new Date(time - 1).toISOString()}`
    expect(await textsOf('&stream=stderr')).toEqual(['ERROR new', 'INFO new'])
    expect(await textsOf(`${since}&level=error`)).toEqual(['ERROR new'])
    expect(await textsOf(since.replace('since', 'until'))).toEqual(['INFO old', 'ERROR old'])
    expect(await textsOf('&before=3&limit=1')).toEqual(['ERROR old'])
    const { json } = await ada.get(`${pathOf(deployment)}/logs?search=info&stream=stderr`)
    expect(json).toMatchObject({ items: [{ text: 'INFO new' }], found: 1 })
  })

  test('is downloaded whole as text', async () => {
    const { t, ada } = withAda(testApp())
    const deployment = await aLog(t, ada, numbered(12_000))
    const { headers, text } = await ada.page(`${pathOf(deployment)}/logs?download=1`)
    expect(headers.get('Content-Type')).toStartWith('text/plain')
    expect(headers.get('Content-Disposition')).toContain(`deployment-${deployment.id}.log`)
    const lines = text.trimEnd().split('\n')
    expect(lines).toHaveLength(12_000)
    expect(lines.at(-1)).toMatch(/^\d{4}-.*Z line 12000$/)
  })

  test('is refused beyond its limits, and to anyone else', async () => {
    const { t, ada } = withAda(testApp())
    const path = `${pathOf(await aLog(t, ada, ['x']))}/logs`
    for (const query of [
      'limit=0',
      'limit=10001',
      'limit=x',
      'after=-1',
      'after=1.5',
      `search=${'x'.repeat(501)}`,
      'format=xml',
      'after=1&after=2',
    ]) {
      const { status, json } = await ada.get(`${path}?${query}`)
      expect(status).toBe(422)
      expect(json.errors[0].field).toBe(query.split('=')[0])
    }
    const eve = t.logIn('eve@example.com')
    expect((await eve.get(path)).status).toBe(404)
    expect((await eve.page(`${path}?download=1`)).status).toBe(404)
    expect((await eve.send(path, { headers: { Accept: 'text/event-stream' } })).status).toBe(404)
  })
})
