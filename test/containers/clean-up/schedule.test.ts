import { expect, test } from 'bun:test'
import { cleanUpSchedule } from '../../../src/containers/clean-up/json.ts'
import { isDue, keepSchedule, runIfDue } from '../../../src/containers/clean-up/schedule.ts'
import { getSchedule, saveSchedule } from '../../../src/containers/clean-up/schedule-store.ts'
import { connectDocker } from '../../../src/docker/index.ts'
import { labelsFor } from '../../../src/docker/labels.ts'
import { testApp, withRoot } from '../../support/app.ts'
import type { TestApp } from '../../support/app.ts'
import { aStranger } from '../engine.ts'

const at = (day: number, hour: number, minute = 0) => new Date(2026, 4, day, hour, minute)

test.each([
  ['before its hour', at(4, 2, 59), at(3, 3), null, false],
  ['at its hour', at(4, 3), at(3, 3), null, true],
  ['at its hour, for the first time', at(4, 3), null, null, true],
  ['a second time that day', at(4, 3, 1), at(4, 3), null, false],
  ['later, when its hour was missed', at(4, 22), at(3, 3), null, true],
  ['for a day that was missed as a whole', at(6, 1), at(4, 3), null, false],
  ['when it was set after its hour', at(4, 22), null, at(4, 20), false],
  ['the day after it was set', at(5, 3), null, at(4, 20), true],
] as const)('it is due or not %s', (_, now, lastRunAt, setAt, expected) => {
  expect(isDue({ enabled: true, hour: 3, lastRunAt }, { now, setAt })).toBe(expected)
  expect(isDue({ enabled: false, hour: 3, lastRunAt }, { now, setAt })).toBe(false)
})

/** Never the build cache: it has no owner, and others build on this engine. */
const what: ['containers', 'networks'] = ['containers', 'networks']

async function anOrphan(t: TestApp) {
  const service = { instanceId: t.instanceId, kind: 'service', ownerId: 'nobody' } as const
  const labels = labelsFor({ ...service, serviceId: Bun.randomUUIDv7() })
  return aStranger(t, 'exit 0', { labels })
}

test('it takes what is Davit’s and of no use, once that day, and tells', async () => {
  const { t, root } = withRoot(testApp())
  const [orphan, stranger] = [await anOrphan(t), await aStranger(t, 'exit 0')]
  saveSchedule(t.db, { enabled: true, what, hour: 3, threshold: 0 })
  expect(await runIfDue(t.deps, at(4, 2))).toBe(false)
  expect(await runIfDue(t.deps, at(4, 5))).toBe(true)
  expect(await t.docker.inspectContainer(orphan)).toBeNull()
  expect(await t.docker.inspectContainer(stranger)).not.toBeNull()

  const { schedule } = (await root.get('/settings/prune')).json
  expect(schedule).toMatchObject({
    lastRunAt: at(4, 5).toISOString(),
    lastOutcome: expect.stringMatching(/^Removed 1 container, \d+ B\.$/),
  })
  expect((await root.page('/settings/prune')).text).toContain('Removed 1 container')
  const { items } = (await root.get('/settings/audit?action=engine.pruned')).json
  expect(items).toMatchObject([
    { actor: { email: 'the daily clean-up' }, details: { removed: '1 container' } },
  ])
  expect(await runIfDue(t.deps, at(4, 6))).toBe(false)
})

test('under its threshold it does nothing, and says how full the disk was', async () => {
  const t = testApp()
  const orphan = await anOrphan(t)
  saveSchedule(t.db, { enabled: true, what, hour: 3, threshold: 99 })
  expect(await runIfDue(t.deps, at(4, 3))).toBe(true)
  expect(await t.docker.inspectContainer(orphan)).not.toBeNull()
  expect(getSchedule(t.db)).toMatchObject({
    lastRunAt: at(4, 3),
    lastOutcome: expect.stringMatching(/^The disk was \d+ % full, below 99 %/),
  })
})

test('while the engine is away it is told, and tried again that day', async () => {
  const t = testApp()
  const orphan = await anOrphan(t)
  saveSchedule(t.db, { enabled: true, what, hour: 3, threshold: 0 })
  t.faults.diskUse = connectDocker({ host: 'unix:///nowhere/docker.sock' }).diskUse
  expect(await runIfDue(t.deps, at(4, 3))).toBe(false)
  expect(getSchedule(t.db)).toMatchObject({
    lastRunAt: null,
    lastOutcome: expect.stringContaining('can’t be reached'),
  })
  delete t.faults.diskUse
  expect(await runIfDue(t.deps, at(4, 4))).toBe(true)
  expect(await t.docker.inspectContainer(orphan)).toBeNull()
})

test('it waits for a clean-up that is at work', async () => {
  const t = testApp()
  saveSchedule(t.db, { enabled: true, what, hour: 3, threshold: 0 })
  const actor = { id: null, email: 'someone' }
  const { id } = t.cleanUps.start({ actor, address: null, what: ['containers'], items: [] })
  expect(await runIfDue(t.deps, at(4, 3))).toBe(false)
  await t.jobs.ended(id)
  expect(await runIfDue(t.deps, at(4, 3))).toBe(true)
})

test('a build cache of today is left to the next builds', async () => {
  const t = testApp()
  const entry = { parents: [], type: 'regular', description: '', inUse: false, shared: false }
  const hoursAgo = (hours: number) => new Date(Date.now() - hours * 3_600_000)
  t.faults.diskUse = async () => ({
    layersSize: 0,
    images: [],
    containers: [],
    volumes: [],
    buildCache: [
      { ...entry, id: 'new', size: 1, lastUsedAt: hoursAgo(23) },
      { ...entry, id: 'old', size: 2, lastUsedAt: hoursAgo(25) },
    ],
  })
  const removed: string[] = []
  t.faults.removeBuildCache = async (id) => removed.push(id)
  saveSchedule(t.db, { enabled: true, what: ['build_cache'], hour: 0, threshold: 0 })
  await runIfDue(t.deps, new Date())
  expect(removed).toEqual(['old'])
})

test('it is watched until Davit ends', async () => {
  const t = testApp()
  const orphan = await anOrphan(t)
  saveSchedule(t.db, { enabled: true, what, hour: 0, threshold: 0 })
  const stop = new AbortController()
  const { removeContainer } = t.docker
  t.faults.removeContainer = (...call) => {
    stop.abort()
    return removeContainer(...call)
  }
  await keepSchedule(t.deps, { signal: stop.signal })
  delete t.faults.removeContainer
  expect(await t.docker.inspectContainer(orphan)).toBeNull()
})

test('an admin sets it, in part or as a whole, and it is recorded', async () => {
  const { t, root } = withRoot(testApp())
  const first = await root.put('/settings/prune/schedule', { enabled: true, hour: 5 })
  expect(first).toMatchObject({ status: 200, json: { enabled: true, hour: 5, threshold: 80 } })
  cleanUpSchedule().strict().parse(first.json)
  const second = await root.put('/settings/prune/schedule', { what: ['images'], threshold: 0 })
  expect(second.json).toMatchObject({ enabled: true, hour: 5, what: ['images'], threshold: 0 })
  expect((await root.get('/settings/prune')).json.schedule).toEqual(second.json)
  const { items } = (await root.get('/settings/audit?action=clean_up.scheduled')).json
  expect(items.map(({ details }: { details: object }) => details)).toMatchObject([
    { every_day: 'at 5:00', of: 'images', from: '0 %' },
    { every_day: 'at 5:00', from: '80 %' },
  ])
  expect(await runIfDue(t.deps, new Date())).toBe(false) // not for an hour that has passed
})

test('its form saves, and shows what is wrong', async () => {
  const { t, root } = withRoot(testApp())
  const form = { enabled: '1', what: '\nnetworks', hour: '4', threshold: '70' }
  const saved = await root.htmx('PUT', '/settings/prune/schedule', form)
  expect(saved.headers.get('X-Davit-Said')).toBe('Schedule%20saved.')
  expect(getSchedule(t.db)).toMatchObject({ enabled: true, what: ['networks'], threshold: 70 })
  const wrong = await root.htmx('PUT', '/settings/prune/schedule', { ...form, threshold: '120' })
  expect(wrong.status).toBe(422)
  expect(wrong.text).toContain('from 0 to 99')
  expect(wrong.text).toMatch(/<input(?=[^>]* name="threshold")[^>]* required/)
  expect(wrong.text).not.toContain('class="optional"')
})

test.each([
  [{ what: ['volumes'] }, 'what'],
  [{ what: [] }, 'what'],
  [{ hour: 24 }, 'hour'],
  [{ threshold: -1 }, 'threshold'],
  [{ enabled: 'x' }, 'enabled'],
])('%j is refused', async (body, field) => {
  const t = testApp()
  const { status, json } = await t.logInAsAdmin().put('/settings/prune/schedule', body)
  expect(status).toBe(422)
  expect(json.errors[0].field).toBe(field)
  expect(getSchedule(t.db).enabled).toBe(false)
})
