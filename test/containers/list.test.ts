import { expect, test } from 'bun:test'
import { simulatedApp, testApp, withAda, withRoot } from '../support/app.ts'
import type { TestClient } from '../support/client.ts'
import { anOwn, aRunning, listen, sooner } from './engine.ts'
import { firstServer } from '../../src/platform/root.ts'

test('the JSON of a container is the one that was agreed', async () => {
  const { t, ada } = withAda(testApp())
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
        serverId: firstServer,
        service: null,
        own: true,
        kept: false,
        restartCount: null,
        exitCode: null,
        oomKilled: null,
        crashLooping: false,
      },
    ],
  })
  expect((await ada.get('/containers')).json).toEqual({
    items: [{ ...json.containers[0], status: expect.stringMatching(/^Up /) }],
    nextCursor: null,
  })
})

test('the list comes in pages, newest first, that miss none when one goes in between', async () => {
  const { t, ada } = withAda(testApp())
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
  const { t, ada } = withAda(testApp())
  listen(t)
  const { id, project } = await anOwn(t, ada, 'exit 3')
  await t.docker.startContainer(id)
  const { text } = await sooner(t, async () => {
    const page = await ada.page('/containers')
    return page.text.includes('Failed (3)') && page
  })
  expect(text).toContain(`href="/projects/${project.id}"`)
  expect(text).toContain('production')
  const { text: page } = await ada.page(`/containers/${id}`)
  expect(page).toContain('exit code 3')
  expect(page).toContain('<title>Failed (3) · ')
})

test('the page shows 25 at a time, sorts them, and finds them by name, image and project', async () => {
  const { t, root } = withRoot(testApp())
  const { project, labels, id: own } = await anOwn(t, root, 'x')
  const all = Array.from({ length: 26 }, (_, at) => ({
    ...{ id: at === 3 ? own : String(at).padStart(64, '0'), name: `box-${at}` },
    ...{ image: at === 7 ? 'redis:8' : 'busybox', labels: at === 3 ? labels : {} },
    ...{ state: at === 9 ? 'exited' : 'running', status: 'Up', exitCode: at === 9 ? 3 : null },
    ...{ health: null, createdAt: new Date(at), ports: [] },
  }))
  t.faults.listContainers = async () => all as never
  const shown = async (query: string) => {
    const { text } = await root.page(`/containers?${query}`)
    const rows = text.matchAll(/class="row-link" href="\/containers\/\w+"><bdi>([^<]+)/g)
    return { text, rows: Array.from(rows, ([, name]) => name!) }
  }
  const names = all.map(({ name }) => name) // as people count
  const first = await shown('sort=name')
  expect(first.rows).toEqual(names.slice(0, 25))
  expect(first.text).toContain('1 to 25 of 26')
  expect((await shown('sort=name&page=2')).rows).toEqual(names.slice(25))
  expect((await shown('sort=state')).rows[0]).toBe('box-9')
  const grouped = await shown('')
  expect(grouped.rows.slice(0, 2)).toEqual(['box-3', 'box-0'])
  expect(grouped.text).toContain(`href="/projects/${project.id}"`)

  expect((await shown('q=redis')).rows).toEqual(['box-7'])
  expect((await shown('q=BOX-12')).rows).toEqual(['box-12'])
  expect((await shown(`q=${project.name}+production`)).rows).toEqual(['box-3'])
  expect((await shown('q=nothing-like-this')).text).toContain('Nothing found')
})

test('whoever has no container is told how to get one', async () => {
  const { text } = await testApp().logIn('ada@example.com').page('/containers')
  expect(text).toContain('No containers')
})

test('a container that lives on without a process that was killed for memory says so', async () => {
  const { t, ada } = withAda(testApp())
  listen(t)
  const script = 'sleep 1; tail -c 200m /dev/zero; sleep 60'
  const { id } = await aRunning(t, ada, script, { memoryBytes: 16 * 2 ** 20 })
  await sooner(t, async () => (await ada.get('/containers/api')).json.containers[0]?.oomKilled)
  for (const path of ['/containers', `/containers/${id}`])
    expect((await ada.page(path)).text).toContain('ran out of memory')
})

test('a container that used up its memory says so', async () => {
  const { t, ada } = withAda(testApp())
  listen(t)
  t.faults.inspectContainer = async (...of) => {
    const found = await t.docker.inspectContainer(...of)
    return found && { ...found, oomKilled: found.exitCode === 137 } // which a busy engine may miss
  }
  const { id } = await aRunning(t, ada, 'exit 137')
  await t.docker.waitForExit(id)
  const found = await sooner(t, async () => {
    const [container] = (await ada.get('/containers/api')).json.containers
    return container.oomKilled && container
  })
  expect(found).toMatchObject({ id, state: 'exited' })
  await sooner(t, async () => (await ada.page('/containers')).text.includes('Out of memory'))
  expect((await ada.page(`/containers/${id}`)).text).toContain('ran out of memory')
})

test('what a running container uses stands in the list', async () => {
  const { t, ada } = withAda(testApp())
  const { id } = await aRunning(t, ada)
  expect((await ada.page('/containers')).text).not.toContain('CPU')
  const reading = (await t.docker.containerStats(id))!
  const none = { received: 0, sent: 0, read: 0, written: 0 }
  const usage = { ...reading, cpu: 12.3, memory: 5 * 2 ** 20, rates: none }
  t.deps.usage.remember(new Map([[id, { reading, usage }]]))
  expect((await ada.page('/containers')).text).toContain('CPU 12 %, 5.0 MiB')
})

test('the list has one’s own containers, and for an admin everyone’s', async () => {
  const t = simulatedApp()
  const [ada, bob] = [t.logIn('ada@example.com'), t.logIn('bob@example.com')]
  const all = [(await aRunning(t, ada)).id, (await aRunning(t, bob)).id]
  const listed = async (client: TestClient) => {
    const { containers } = (await client.get('/containers/api')).json
    return containers.map(({ id }: { id: string }) => id).toSorted()
  }
  expect(await listed(ada)).toEqual([all[0]])
  expect(await listed(t.logInAsAdmin())).toEqual(all.toSorted())
})
