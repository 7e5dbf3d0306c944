import { expect, test } from 'bun:test'
import { schedules } from '../../src/db/schema.ts'
import { limits } from '../../src/platform/limits.ts'
import { aLiveEnvironment } from '../runs/runs.ts'
import { scheduled } from './scene.ts'

test('a schedule has its next times, and what it was given', async () => {
  const { one, ada, id } = await scheduled({ zone: 'Europe/Berlin', missed: 'once' })
  const { json } = await ada.get(one)
  expect(json).toMatchObject({
    ...{ environmentId: id, name: 'nightly', command: 'true', schedule: '0 3 * * *' },
    ...{ zone: 'Europe/Berlin', overlap: 'skip', missed: 'once', timeout: null },
    ...{ enabled: true, file: '', lastRun: null, problem: null, dueAt: null },
  })
  expect(json.nextTimes).toHaveLength(5)
  const { text } = await ada.page(`/envs/${id}/schedules`)
  for (const at of json.nextTimes) expect(text).toContain(`datetime="${at}"`)
})

test.each([
  [{ schedule: '0 0 30 2 *' }, 'schedule'],
  [{ schedule: '* * * * * *' }, 'schedule'],
  [{ schedule: 'tomorrow' }, 'schedule'],
  [{ zone: 'Mars/Olympus' }, 'zone'],
  [{ zone: '+02:00' }, 'zone'],
  [{ overlap: 'both' }, 'overlap'],
  [{ missed: 'all' }, 'missed'],
  [{ timeout: 0 }, 'timeout'],
  [{ command: '' }, 'command'],
  [{ command: "sh -c 'open" }, 'command'],
  [{ name: '' }, 'name'],
])('%j is refused at its field, when it is made and when it is changed', async (wrong, field) => {
  const { ada, path, one } = await scheduled()
  const valid = { name: 'other', command: 'true', schedule: '@daily' }
  expect((await ada.post(path, { ...valid, ...wrong })).json.errors).toMatchObject([{ field }])
  expect((await ada.put(one, wrong)).json.errors).toMatchObject([{ field }])
})

test('a change keeps what it omits, plans again, and names its fields in the audit log', async () => {
  const { t, ada, one } = await scheduled({ zone: 'Asia/Tokyo', timeout: 5 })
  const before = (await ada.get(one)).json
  const { json } = await ada.put(one, { schedule: '30 4 * * *', timeout: null })
  expect(json).toMatchObject({ zone: 'Asia/Tokyo', timeout: null, name: 'nightly' })
  expect(json.nextTimes).not.toEqual(before.nextTimes)
  const { items } = (await t.logInAsAdmin().get('/settings/audit?action=schedule.changed')).json
  expect(items).toMatchObject([
    { object: { name: 'nightly of site production' }, details: { changes: 'schedule, timeout' } },
  ])
})

test('a form that is refused has what was typed, and the stored rest', async () => {
  const { ada, one } = await scheduled({ zone: 'Asia/Tokyo' })
  const edit = (await ada.page(`${one}/edit`)).text
  expect(edit).toContain('value="Asia/Tokyo"')
  const refused = await ada.htmx('PUT', one, { name: 'nightly', schedule: '61 * * * *' })
  expect(refused.status).toBe(422)
  expect(refused.text).toContain('value="61 * * * *"')
})

test('a command of words stands in the form as a line, and stays what it is', async () => {
  const command = ['sh', '-c', 'date; echo "it is"']
  const { t, ada, one } = await scheduled({ command })
  expect((await ada.page(`${one}/edit`)).text).toContain('sh -c &#39;date; echo &quot;it is&quot;')
  const line = `sh -c 'date; echo "it is"'`
  await ada.htmx('PUT', one, { name: 'nightly', command: line, schedule: '0 3 * * *' })
  expect((await ada.get(one)).json.command).toEqual(command)
  const { items } = (await t.logInAsAdmin().get('/settings/audit?action=schedule.changed')).json
  expect(items).toEqual([])
})

test('two of one name are refused, and more than the limit too', async () => {
  const { t, ada, path, id } = await scheduled()
  const body = { name: 'nightly', command: 'true', schedule: '@daily' }
  expect((await ada.post(path, body)).json.errors).toMatchObject([{ field: 'name' }])
  for (let i = 1; i < limits.schedules; i++)
    t.db
      .insert(schedules)
      .values({ ...body, name: `n${i}`, environmentId: id })
      .run()
  expect((await ada.post(path, { ...body, name: 'more' })).status).toBe(409)
})

test('it is paused and goes on by a button, without other changes', async () => {
  const { ada, one } = await scheduled()
  await ada.htmx('PUT', one, { enabled: '0' })
  expect((await ada.get(one)).json).toMatchObject({ enabled: false, nextTimes: [] })
  await ada.htmx('PUT', one, { enabled: '1' })
  expect((await ada.get(one)).json.nextTimes).toHaveLength(5)
})

test('it runs at once when asked, which creates a run, but not beside itself', async () => {
  const { ada, one, runs } = await scheduled()
  const { status, json, headers } = await ada.post(`${one}/run`)
  expect(status).toBe(201)
  expect(json).toMatchObject({ status: 'pending', id: runs()[0]!.id })
  expect((await ada.get(headers.get('Location')!)).json.id).toBe(json.id)
  expect((await ada.post(`${one}/run`)).status).toBe(409)
})

test('its run has its log and exit code, and the schedule shows it', async () => {
  const of = await aLiveEnvironment()
  const path = `/envs/${of.id}/schedules`
  const body = { name: 'says', command: "sh -c 'echo scheduled; exit 4'", schedule: '@daily' }
  const { json: made } = await of.ada.post(path, body)
  const { json: run } = await of.ada.post(`${path}/${made.id}/run`)
  expect(await of.ended(run)).toMatchObject({ status: 'failed', exitCode: 4 })
  expect(await of.linesOf(run)).toContain('scheduled')
  const { lastRun } = (await of.ada.get(`${path}/${made.id}`)).json
  expect(lastRun).toMatchObject({ id: run.id, exitCode: 4, scheduleId: made.id })
})
