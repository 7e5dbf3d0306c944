import { expect, test } from 'bun:test'
import { readEvents } from '../demo/events.ts'
import { testApp } from '../support/app.ts'
import type { TestClient } from '../support/client.ts'
import { anOwn, aRunning, listen, sooner } from './engine.ts'

/** The data of the list's stream, until the loop is left. */
async function* follow(client: TestClient, query = '') {
  const response = await client.send(`/containers/events${query}`)
  expect(response.headers.get('Content-Type')).toStartWith('text/event-stream')
  for await (const { name, data } of readEvents(response.body!)) {
    expect(name).toBe('message') // what has a name is not swapped
    yield data
  }
}

test('the JSON of a container is the one that was agreed', async () => {
  const t = testApp()
  const ada = t.logIn('ada@example.com')
  const { id, project, environment, deployment } = await anOwn(t, ada, 'sleep 999', {
    ports: [{ container: 8080, host: 0, address: '127.0.0.1' }],
  })
  await t.docker.startContainer(id)
  const inspected = (await t.docker.inspectContainer(id))!

  const { json } = await ada.get('/containers/api')

  expect(json).toEqual({
    containers: [
      {
        id,
        name: inspected.name,
        image: 'busybox:latest',
        state: 'running',
        status: expect.stringMatching(/^Up /),
        health: null,
        createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.000Z$/),
        ports: [{ host: inspected.ports[0]!.host, container: 8080, protocol: 'tcp' }],
        project: project.id,
        environment: environment.id,
        process: 'web',
        replica: null,
        deployment: deployment.id,
        service: null,
        own: true,
        restartCount: null,
        exitCode: null,
        oomKilled: null,
        crashLooping: false,
      },
    ],
  })
  expect((await ada.get('/containers')).json).toEqual({
    items: json.containers,
    nextCursor: null,
  })
})

test('the list comes in pages, newest first, that miss none when one goes in between', async () => {
  const t = testApp()
  const ada = t.logIn('ada@example.com')
  const ids: string[] = []
  for (let count = 0; count < 4; count++) ids.unshift((await anOwn(t, ada, 'x')).id)
  const page = async (query: string) => (await ada.get(`/containers?limit=1${query}`)).json
  const seen: string[] = []
  for (let cursor: string | null = ''; cursor !== null;) {
    const { items, nextCursor } = await page(cursor && `&cursor=${encodeURIComponent(cursor)}`)
    seen.push(items[0].id)
    if (seen.length === 2) await t.docker.removeContainer(items[0].id)
    cursor = nextCursor
  }
  expect(seen.toSorted()).toEqual(ids.toSorted())
})

test('containers stand under their project, and one that fares badly says so', async () => {
  const t = testApp()
  const ada = t.logIn('ada@example.com')
  listen(t)
  const { id, project } = await anOwn(t, ada, 'exit 3')
  await t.docker.startContainer(id)
  const { text } = await sooner(t, async () => {
    const page = await ada.page('/containers')
    return page.text.includes('Failed (3)') && page
  })
  expect(text).toContain(`href="/projects/${project.id}"`)
  expect(text).toContain('production')
  expect((await ada.page(`/containers/${id}`)).text).toContain('exit code 3')
})

test('whoever has no container is told how to get one', async () => {
  const { text } = await testApp().logIn('ada@example.com').page('/containers')
  expect(text).toContain('No containers')
})

test('a container that used up its memory says so', async () => {
  const t = testApp()
  const ada = t.logIn('ada@example.com')
  listen(t)
  const { id } = await aRunning(t, ada, 'head -c 200m /dev/zero | tail -c 150m')
  await t.docker.waitForExit(id)
  const found = await sooner(t, async () => {
    const [container] = (await ada.get('/containers/api')).json.containers
    return container.oomKilled && container
  })
  expect(found).toMatchObject({ id, state: 'exited' })
  expect((await ada.page('/containers')).text).toContain('Out of memory')
  expect((await ada.page(`/containers/${id}`)).text).toContain('ran out of memory')
})

test('what a running container uses stands in the list', async () => {
  const t = testApp()
  const ada = t.logIn('ada@example.com')
  const { id } = await aRunning(t, ada)
  expect((await ada.page('/containers')).text).not.toContain('CPU')
  const reading = (await t.docker.containerStats(id))!
  const none = { received: 0, sent: 0, read: 0, written: 0 }
  const usage = { ...reading, cpu: 12.3, memory: 5 * 2 ** 20, rates: none }
  t.deps.usage.remember(new Map([[id, { reading, usage }]]))
  expect((await ada.page('/containers')).text).toContain('CPU 12 %, 5.0 MiB')
})

test('the stream of the list tells what changed, by whomever, and only to those who may see it', async () => {
  const t = testApp()
  const [ada, bob] = [t.logIn('ada@example.com'), t.logIn('bob@example.com')]
  listen(t)
  const { id } = await aRunning(t, ada)
  const other = await aRunning(t, ada)
  const bobs = await aRunning(t, bob)
  await sooner(t, () => [id, other.id, bobs.id].every((one) => t.deps.conditions.of(one)))
  const row = `id="c${id.slice(0, 12)}"`
  const first = follow(ada)
  const { value: whole } = await first.next()
  expect(whole).toContain('<hx-partial hx-target="#containers"')
  expect(whole).toContain(row)
  expect(whole).not.toContain(bobs.id)

  await t.docker.stopContainer(bobs.id)
  await t.docker.stopContainer(id)
  let change = ''
  while (!change.includes('Stopped')) change = (await first.next()).value!
  expect(change).toContain(row)
  expect(change).not.toContain('"#containers"')
  expect(change).not.toContain(other.id)
  expect(change).not.toContain(bobs.id)
  await first.return()

  const json = follow(t.logInAsAdmin(), '?format=json')
  const { containers } = JSON.parse((await json.next()).value!)
  expect(containers.map((container: { id: string }) => container.id)).toContain(bobs.id)
  await json.return()
})

test('a storm of changes is at most one event a second', async () => {
  const t = testApp()
  const ada = t.logIn('ada@example.com')
  listen(t)
  const { id } = await aRunning(t, ada)
  const stream = follow(ada)
  await stream.next()
  const from = performance.now()
  let storming = true
  const storm = (async () => {
    while (storming) {
      await t.docker.stopContainer(id, { timeoutSeconds: 0 })
      await t.docker.startContainer(id)
    }
  })()
  for (let events = 1; events <= 2; events++) {
    await stream.next()
    expect(performance.now() - from).toBeGreaterThan((events - 1) * 990)
  }
  storming = false
  await storm
  await stream.return()
})

test('a made-up format of the stream is refused', async () => {
  const ada = testApp().logIn('ada@example.com')
  expect((await ada.get('/containers/events?format=xml')).status).toBe(422)
})
