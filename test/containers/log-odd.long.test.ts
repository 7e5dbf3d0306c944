import { expect, onTestFinished, test } from 'bun:test'
import { connectEngine } from '../../src/docker/engine.ts'
import { testApp, withAda, withRoot } from '../support/app.ts'
import type { TestApp } from '../support/app.ts'
import type { TestClient } from '../support/client.ts'
import { hostileTexts } from '../support/hostile.ts'
import { anOwn, aRunning, aStranger, listen } from './engine.ts'
import { collect } from '../logs/collecting.ts'
import { followLog, isEvent, isLine, linesOf, notesOf, textsOf } from './log-stream.ts'

/** A container with settings that Davit never gives one; it goes when the test ends. */
async function anOdd(t: TestApp, script: string, settings: Record<string, unknown>) {
  const { Id } = await connectEngine(undefined).request<{ Id: string }>(
    'POST',
    '/containers/create',
    { body: { Image: 'busybox:latest', Cmd: ['sh', '-c', script], ...settings } },
  )
  onTestFinished(async () => void (await t.docker.removeContainer(Id, { force: true })))
  await t.docker.startContainer(Id)
  return Id
}

/** A container of others that runs, whose log is the engine's. */
async function aWriter(t: TestApp, script: string) {
  const id = await aStranger(t, script)
  await t.docker.startContainer(id)
  return { root: t.logInAsAdmin(), id }
}

/** Of one that has ended: all of its lines. */
async function allLines(t: TestApp, client: TestClient, id: string) {
  await t.docker.waitForExit(id)
  return (await client.get(`/containers/${id}/logs?tail=10000`)).json.items
}

test('hostile parameters are refused, and odd ids of lines only ignored in the header', async () => {
  const t = testApp()
  const { root, id } = await aWriter(t, 'echo one; sleep 99')
  const bad = ['-1', '1e9', '1E3', 'NaN', 'Infinity', '0x10', '1.5', '٣', ...hostileTexts]
  const ask = (name: string, value: string) =>
    root.get(`/containers/${id}/logs?${new URLSearchParams({ [name]: value })}`)
  for (const name of ['tail', 'since', 'until', 'after', 'stream', 'format'])
    for (const value of bad) expect((await ask(name, value)).status, `${name}=${value}`).toBe(422)
  expect((await ask('tail', '10001')).status).toBe(422)
  for (const value of ['2026-13-01T00:00:00Z', '2026-11-20', 'yesterday', '999999d', '-1h', '1y'])
    expect((await ask('since', value)).status, value).toBe(422)
  for (const value of ['x'.repeat(201), 'a\0b'])
    expect((await ask('search', value)).status).toBe(422)
  for (const value of hostileTexts) expect((await ask('search', value)).status, value).toBe(200)

  for (const lastEventId of ['-1', 'NaN', "';--", '9'.repeat(5000), '2026-11-20']) {
    const stream = await followLog(root, id, { lastEventId })
    expect(textsOf(await stream.until(isLine('one')))).toEqual(['one'])
    await stream.close()
  }
})

test('a line id that this log never gave out hides nothing that is written from now on', async () => {
  const t = testApp()
  const { root, id } = await aWriter(t, 'echo one; sleep 1; echo two; sleep 99')
  const stream = await followLog(root, id, { lastEventId: '2099-01-01T00:00:00.000000000Z' })
  expect(textsOf(await stream.until(isLine('two')))).toContain('two')
})

test('only the whole id of a container that one may see has a log', async () => {
  const t = testApp()
  const [ada, bob] = [t.logIn('ada@example.com'), t.logIn('bob@example.com')]
  const root = t.logInAsAdmin()
  const { id } = await aRunning(t, ada, 'echo mine; sleep 99')
  const stranger = await aStranger(t, 'echo other')
  for (const odd of [
    id.slice(0, 12),
    `${id}0`,
    `..%2f${id}`,
    `${id}%2fjson`,
    '%00',
    'f'.repeat(64),
  ])
    for (const query of ['', '?download=1', '?format=json'])
      expect((await root.get(`/containers/${odd}/logs${query}`)).status, odd + query).toBe(404)
  for (const query of ['', '?download=1', '?format=json']) {
    expect((await bob.get(`/containers/${id}/logs${query}`)).status).toBe(404)
    expect((await ada.get(`/containers/${stranger}/logs${query}`)).status).toBe(404)
  }
  expect((await root.get(`/containers/${stranger}/logs`)).status).toBe(200)
})

test('a terminal has no frames and no stderr, and its log is read all the same', async () => {
  const { t, root } = withRoot(testApp())
  const script =
    'stty -onlcr; echo one; echo two >&2; printf "10%%\\r20%%\\r100%%\\n"; sleep 1; echo live; sleep 99'
  const id = await anOdd(t, script, { Tty: true })
  const stream = await followLog(root, id)
  const lines = linesOf(await stream.until(isLine('live')))
  expect(lines.map(({ text }) => text)).toEqual(['one', 'two', '100%', 'live'])
  expect(lines.every(({ stream }) => stream === 'stdout')).toBe(true)
})

test('a log driver that keeps nothing is said once, and the stream is over', async () => {
  const { t, root } = withRoot(testApp())
  const id = await anOdd(t, 'echo lost; sleep 99', { HostConfig: { LogConfig: { Type: 'none' } } })
  const events = await (await followLog(root, id)).rest()
  expect(notesOf(events)).toHaveLength(1)
  expect(events.at(-1)).toMatchObject({ event: 'done', data: 'unreadable' })
  const download = await root.get(`/containers/${id}/logs?download=1`)
  expect(download.status).toBe(503)
  expect(download.json.detail).toContain('log driver none')
  expect((await root.page(`/containers/${id}`)).text).toContain('log driver none')
})

test('another log driver is followed as well', async () => {
  const t = testApp()
  listen(t)
  const root = t.logInAsAdmin()
  const script = 'trap exit TERM; echo one; echo two >&2; sleep 1; echo three; sleep 99 & wait'
  const settings = { HostConfig: { LogConfig: { Type: 'local' } } }
  const id = await anOdd(t, script, settings)
  const stream = await followLog(root, id)
  const texts = textsOf(await stream.until(isLine('three')))
  expect(texts.toSorted()).toEqual(['one', 'three', 'two'])
  const again = await followLog(root, id, { lastEventId: stream.lastId! })
  await t.docker.stopContainer(id)
  expect(textsOf(await again.until(isEvent('state', 'exited')))).toEqual([])
})

test('a line of a megabyte comes in pieces that lose nothing', async () => {
  const { t, root } = withRoot(testApp())
  const size = 1024 * 1024
  const id = await aStranger(t, `head -c ${size} /dev/zero | tr '\\0' x; echo; echo next`)
  await t.docker.startContainer(id)
  const lines = await allLines(t, root, id)
  const pieces = lines.slice(0, -1)
  expect(pieces.map(({ text }: { text: string }) => text).join('')).toBe('x'.repeat(size))
  expect(new Set(pieces.map(({ id }: { id: string }) => id)).size).toBe(64)
  expect(lines.at(-1).text).toBe('next')
  const behind = await followLog(root, id, { lastEventId: pieces[30].id })
  const rest = textsOf(await behind.until(isLine('next')))
  expect(rest.join('')).toBe(`${'x'.repeat(33 * 16_384)}next`)
})

test('lines that a busy engine dates later than the end of their container are followed, too', async () => {
  const t = testApp()
  const { root, id } = await aWriter(t, 'echo first; echo last')
  await t.docker.waitForExit(id)
  const { inspectContainer } = t.docker
  t.faults.inspectContainer = async (id, options) => {
    const found = await inspectContainer(id, options)
    return found && { ...found, finishedAt: new Date(found.finishedAt!.getTime() - 5000) }
  }
  const stream = await followLog(root, id)
  expect(textsOf(await stream.until(isLine('last')))).toEqual(['first', 'last'])
})

test('NUL, broken UTF-8 and terminal tricks reach the page as harmless text', async () => {
  const { t, root } = withRoot(testApp())
  const id = await aStranger(
    t,
    `printf 'a\\0b\\377c\\n'; printf '\\033]0;title\\007\\033[2J\\033[31mred\\033[0m <script>alert(1)</script>\\n'; printf 'data: x\\r\\revent: done\\n'`,
  )
  await t.docker.startContainer(id)
  const lines = await allLines(t, root, id)
  expect(lines[0].text).toBe('a\0b\ufffdc')
  const { text } = await root.htmx('GET', `/containers/${id}/logs`)
  expect(text).toContain('ab\ufffdc')
  expect(text).toContain('<span class="f1">red</span> &lt;script&gt;')
  expect(text).not.toMatch(/[\0\u001b\u0007]|title|<script/)
  const stream = await followLog(root, id, { format: 'html', until: '0s' })
  const events = await stream.rest()
  expect(events.map(({ event }) => event)).toEqual([null, null, null, 'done'])
})

test('a container that stops is waited for, one that is gone ends the stream', async () => {
  const t = testApp()
  listen(t)
  const { root, id } = await aWriter(t, 'echo hello; trap "exit 3" TERM; sleep 99 & wait')
  const stream = await followLog(root, id)
  await stream.until(isLine('hello'))
  await t.docker.stopContainer(id)
  const stopped = await stream.until(isEvent('state', 'exited'))
  expect(notesOf(stopped).join()).toContain('exit code 3')
  await t.docker.startContainer(id)
  const again = await stream.until(isLine('hello'))
  expect(notesOf(again)).toEqual(['The container started again.'])
  await t.docker.removeContainer(id, { force: true })
  const rest = await stream.rest()
  expect(rest.at(-1)).toMatchObject({ event: 'done', data: 'removed' })
})

test('a container that restarts in a loop is followed through it, every line once', async () => {
  const t = testApp()
  listen(t)
  const root = t.logInAsAdmin()
  const id = await anOdd(t, 'echo begin; date +%s%N; exit 1', {
    HostConfig: { RestartPolicy: { Name: 'always' } },
  })
  const stream = await followLog(root, id)
  let begun = 0
  const events = await stream.until((event) => isLine('begin')(event) && ++begun === 5)
  const ids = linesOf(events).map((line) => line.id)
  expect(new Set(ids).size).toBe(ids.length)
  expect(ids).toEqual(ids.toSorted())
  expect(notesOf(events).some((text) => text.includes('exit code 1'))).toBe(true)
})

test('secrets of the environment are hidden in what its container writes', async () => {
  const { t, ada } = withAda(testApp())
  const long = "head -c 16374 /dev/zero | tr '\\0' x" // the secret lies across the cut behind it
  const script = `sleep 0.5; ${long}; echo "$TOKEN"; echo "token is $TOKEN"; sleep 99`
  const secret = 'correct-horse-battery'
  const { id, environment } = await anOwn(t, ada, script, { env: { TOKEN: secret } })
  const variable = { key: 'TOKEN', value: secret, secret: true }
  expect((await ada.post(`/envs/${environment.id}/variables`, variable)).status).toBe(201)
  collect(t)
  await t.docker.startContainer(id)
  const stream = await followLog(ada, id)
  await stream.until(isLine('token is ***'))
  const shown = [
    await ada.get(`/containers/${id}/logs`),
    await ada.get(`/containers/${id}/logs?download=1`),
    await ada.page(`/containers/${id}`),
  ]
  for (const { text } of shown)
    for (const part of [secret, secret.slice(0, 10), secret.slice(10)])
      expect(text).not.toContain(part)
})

test('search and one of the outputs are filters, of what is there and of what comes', async () => {
  const t = testApp()
  const script = 'echo Apple; echo pear >&2; sleep 1; echo "an APPLE"; echo apple >&2; sleep 99'
  const { root, id } = await aWriter(t, script)
  const stream = await followLog(root, id, { search: 'apple', stream: 'stdout' })
  expect(textsOf(await stream.until(isLine('an APPLE')))).toEqual(['Apple', 'an APPLE'])
  const { items } = (await root.get(`/containers/${id}/logs?stream=stderr`)).json
  expect(items.map(({ text }: { text: string }) => text)).toEqual(['pear', 'apple'])
  const late = (await root.get(`/containers/${id}/logs?since=1h&until=30m`)).json
  expect(late).toEqual({ items: [], nextCursor: null })
})

test('a download is the whole log with its times, whoever reads it slowly', async () => {
  const t = testApp()
  const { root, id } = await aWriter(t, 'seq 1 20000')
  await t.docker.waitForExit(id)
  const response = await root.send(`/containers/${id}/logs?download=1`)
  expect(response.headers.get('Content-Disposition')).toStartWith(
    'attachment; filename="container-',
  )
  const lines = (await response.text()).trim().split('\n')
  expect(lines.map((line) => line.split(' ')[1])).toEqual(
    Array.from({ length: 20000 }, (_, i) => String(i + 1)),
  )
})

test('an engine that hangs up while the container runs is asked again', async () => {
  const t = testApp()
  const script = 'i=0; while [ $i -lt 400 ]; do i=$((i+1)); echo $i; usleep 5000; done; sleep 99'
  const { root, id } = await aWriter(t, script)
  const { containerLogs } = t.docker
  t.faults.containerLogs = async function* (id, options) {
    let left = options?.follow ? 5 : Infinity
    for await (const lines of containerLogs(id, options)) {
      yield lines
      if (--left === 0) return
    }
  }
  const stream = await followLog(root, id, { tail: '10000' })
  const texts = textsOf(await stream.until(isLine('400')))
  expect(texts).toEqual(Array.from({ length: 400 }, (_, i) => String(i + 1)))
})
