import { expect, test } from 'bun:test'
import { cleanUpPreview, cleanUpRun, diskOverview } from '../../../src/containers/clean-up/json.ts'
import { jobs } from '../../../src/db/schema.ts'
import { connectDocker } from '../../../src/docker/index.ts'
import { testApp, withAda, withRoot } from '../../support/app.ts'
import { anOwn, aStranger } from '../engine.ts'

const nothing = { what: ['containers'], items: [] }

test('only an admin cleans up, sees what takes the disk, and sets the schedule', async () => {
  const { t, ada } = withAda(testApp())
  const stranger = await aStranger(t, 'exit 0')
  const items = [`container:${stranger}`]
  expect((await ada.get('/settings/prune')).status).toBe(403)
  expect((await ada.get('/settings/prune/result')).status).toBe(403)
  expect((await ada.post('/settings/prune', { what: ['containers'], items })).status).toBe(403)
  expect((await ada.post('/settings/prune', { what: ['images'], dryRun: true })).status).toBe(403)
  expect((await ada.put('/settings/prune/schedule', { enabled: true })).status).toBe(403)
  expect(await t.docker.inspectContainer(stranger)).not.toBeNull()
  expect((await ada.page('/settings/profile')).text).not.toContain('/settings/prune')
  expect((await t.logInAsAdmin().page('/settings/profile')).text).toContain('/settings/prune')
})

test.each([
  [{}, 'what'],
  [{ what: [] }, 'what'],
  [{ what: ['everything'] }, 'what'],
  [{ what: 'images' }, 'what'],
  [{ what: ['images', 7] }, 'what'],
  [{ what: null }, 'what'],
  [{ what: ['images'], items: ['x'] }, 'items'],
  [{ what: ['images'], items: ['image:'] }, 'items'],
  [{ what: ['images'], items: ['images:x'] }, 'items'],
  [{ what: ['images'], items: [`image:${'x'.repeat(600)}`] }, 'items'],
  [{ what: ['images'], items: ['volume:data'] }, 'items'],
  [{ what: ['volumes'], items: ['volume:*'] }, 'items'],
  [{ what: ['images'], dryRun: 'yes' }, 'dryRun'],
])('%j is refused', async (body, field) => {
  const t = testApp()
  const { status, json } = await t.logInAsAdmin().post('/settings/prune', body)
  expect(status).toBe(422)
  expect(json.errors.map((error: { field: string }) => error.field)).toEqual([field])
  expect(t.cleanUps.latest).toBeNull()
})

test('the answers are what the document says', async () => {
  const { root } = withRoot(testApp())
  const plan = await root.post('/settings/prune', {
    what: ['containers', 'images', 'networks', 'volumes', 'build_cache'],
    dryRun: true,
  })
  cleanUpPreview().strict().parse(plan.json)
  expect((await root.get('/settings/prune/result')).json).toEqual({})
  cleanUpRun()
    .strict()
    .parse((await root.post('/settings/prune', nothing)).json)
  cleanUpRun()
    .strict()
    .parse((await root.get('/settings/prune/result')).json)
  const { json } = await root.get('/settings/prune')
  diskOverview().strict().parse(json)
  expect(json.space.free).toBeGreaterThan(0)
  expect(json.use.database).toBeGreaterThan(0)
})

test('the page says what a build may use, and when nothing holds it to that', async () => {
  const { t, root } = withRoot(testApp({ DAVIT_BUILD_MEMORY: '1536', DAVIT_BUILD_CPUS: '0.5' }))
  const { text } = await root.page('/settings/prune')
  expect(text).toContain('One build may use 1.5 GiB of memory and 0.5 processors')
  expect(text).not.toContain('Build limits aren’t enforced')
  const elsewhere = async () => 'Docker is on another machine'
  t.faults.whyUncapped = elsewhere
  expect((await root.page('/settings/prune')).text).toMatch(
    /Build limits aren’t enforced.* because Docker is on another machine\./s,
  )
})

test('a form shows each thing with a box, ticked where it is Davit’s, and takes what was ticked', async () => {
  const { t, root } = withRoot(testApp())
  const own = await anOwn(t, root, 'exit 0')
  t.db.$client.run('UPDATE instances SET container_id = NULL')
  const stranger = await aStranger(t, 'exit 0')
  const box = (text: string, id: string) =>
    new RegExp(`<input[^>]*value="container:${id}"[^>]*>`).exec(text)![0]

  const shown = await root.htmx('POST', '/settings/prune', { what: 'containers', dry_run: '1' })
  expect(shown.status).toBe(200)
  expect(shown.text).toStartWith('<div id="clean-up"')
  expect(box(shown.text, own.id)).toContain('checked')
  expect(box(shown.text, stranger)).not.toContain('checked')

  const none = await root.htmx('POST', '/settings/prune', { what: 'containers', items: '' })
  expect(none.text).toContain('Removed nothing')
  const done = await root.form('/settings/prune', {
    what: 'containers',
    items: `\ncontainer:${own.id}`,
  })
  expect([done.status, done.headers.get('Location')]).toEqual([303, '/settings/prune/result'])
  expect((await root.page('/settings/prune/result')).text).toContain('Removed 1 container')
  expect(await t.docker.inspectContainer(own.id)).toBeNull()
  expect(await t.docker.inspectContainer(stranger)).not.toBeNull()
})

test('a form with no kind ticked says so', async () => {
  const t = testApp()
  const { status, text } = await t.logInAsAdmin().htmx('POST', '/settings/prune', {
    what: '',
    dry_run: '1',
  })
  expect(status).toBe(422)
  expect(text).toContain('look-for-error')
})

test('while the engine is away nothing is done, and everyone is told', async () => {
  const { t, root } = withRoot(testApp())
  const { diskUse } = connectDocker({ host: 'unix:///nowhere/docker.sock' })
  t.faults.diskUse = diskUse
  expect((await root.get('/settings/prune')).status).toBe(503)
  expect((await root.post('/settings/prune', { what: ['images'], dryRun: true })).status).toBe(503)
  const refused = await root.post('/settings/prune', { what: ['images'] })
  expect(refused.status).toBe(503)
  expect(refused.json.detail).toContain('can’t be reached')
  expect((await root.get('/settings/audit?action=engine.pruned')).json.items).toEqual([])
})

test('what takes long goes on after the answer, alone, and its page shows how far it came', async () => {
  const { t, root } = withRoot(testApp({}, { config: { acceptTimeout: 6000 } }))
  const ids = [await aStranger(t, 'exit 0'), await aStranger(t, 'exit 0')]
  const { removeContainer } = t.docker
  const held = Promise.withResolvers<void>()
  let calls = 0
  t.faults.removeContainer = async (...call) => {
    if (++calls === 2) await held.promise
    return removeContainer(...call)
  }
  const answer = await root.post('/settings/prune', {
    what: ['containers'],
    items: ids.map((id) => `container:${id}`),
  })
  expect([answer.status, answer.headers.get('Location')]).toEqual([202, '/settings/prune/result'])
  expect(answer.json).toMatchObject({ complete: false, finishedAt: null })
  expect(answer.json.removed).toHaveLength(1)
  expect((await root.post('/settings/prune', nothing)).status).toBe(409)
  expect((await root.htmx('GET', '/settings/prune/result')).text).toContain('Cleaning up…')
  expect((await root.page('/settings/prune')).text).toContain('A clean-up is running')

  held.resolve()
  await t.jobs.idle()
  delete t.faults.removeContainer
  const { json } = await root.get('/settings/prune/result')
  expect(json).toMatchObject({ complete: true, by: 'root@example.com' })
  expect(json.removed).toHaveLength(2)
  expect((await root.htmx('GET', '/settings/prune/result')).text).not.toContain('every 2s')
  // another may begin; on a busy engine it is only accepted
  expect([200, 202]).toContain((await root.post('/settings/prune', nothing)).status)
})

test('Davit ends without waiting for the rest of a clean-up', async () => {
  const { t, root } = withRoot(testApp())
  const ids = [await aStranger(t, 'exit 0'), await aStranger(t, 'exit 0')]
  const { removeContainer } = t.docker
  let stopped = Promise.resolve()
  t.faults.removeContainer = (...call) => {
    stopped = t.jobs.stop()
    return removeContainer(...call)
  }
  const { json } = await root.post('/settings/prune', {
    what: ['containers'],
    items: ids.map((id) => `container:${id}`),
  })
  delete t.faults.removeContainer
  await stopped
  expect(json).toMatchObject({ complete: false })
  expect([json.removed.length, json.skipped.length]).toEqual([1, 1])
})

test('a clean-up that Davit’s end interrupts goes on once, and is given up then', async () => {
  const { t, root } = withRoot(testApp())
  const id = await aStranger(t, 'exit 0')
  const input = {
    actor: root.user,
    address: null,
    what: ['containers'],
    items: [`container:${id}`],
  }
  const left = { kind: 'clean-up', subjectId: 'engine', status: 'running' } as const
  const died = (attempt: number) =>
    t.db
      .insert(jobs)
      .values({ ...left, slot: 'clean-up', attempt, input: JSON.stringify(input) })
      .run()
  died(2)
  await t.jobs.recover(['clean-up'])
  t.jobs.wake()
  expect((await root.get('/settings/prune/result')).json).toMatchObject({
    complete: false,
    removed: [],
  })
  expect(await t.docker.inspectContainer(id)).not.toBeNull()

  died(1)
  expect((await root.post('/settings/prune', nothing)).status).toBe(409)
  await t.jobs.recover(['clean-up'])
  t.jobs.wake()
  await t.jobs.idle()
  const { json } = await root.get('/settings/prune/result')
  expect(json).toMatchObject({ complete: true, by: root.user.email, removed: [{ id }] })
})
