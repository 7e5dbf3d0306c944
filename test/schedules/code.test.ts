import { expect, test } from 'bun:test'
import { applyCode } from '../../src/environments/store.ts'
import type { CodeSettings } from '../../src/db/schema.ts'
import { scheduled } from './scene.ts'

type Given = NonNullable<CodeSettings['settings']['schedules']>

async function setUp(...first: Given) {
  const s = await scheduled()
  const apply = (schedules: Given | undefined) =>
    applyCode(s.db, s.id, schedules ? { file: 'davit.yaml', settings: { schedules } } : null)
  apply(first)
  const list = async () =>
    (await s.ada.get(s.path)).json.items as (Record<string, string> & { nextTimes: string[] })[]
  const ofFile = async () => (await list()).filter(({ file }) => file !== '')
  return { ...s, apply, list, ofFile }
}

const clean = { name: 'clean', command: 'npm run clean', schedule: '0 3 * * *' }
const report = { name: 'report', command: ['sh', '-c', 'date'], schedule: '@daily' }

test('the schedules of the live commit stand beside those of the user', async () => {
  const { list } = await setUp({ ...clean, zone: 'Asia/Tokyo', timeout: 9 }, report)
  expect(await list()).toMatchObject([
    { ...report, file: 'davit.yaml', zone: 'UTC', overlap: 'skip' },
    { ...clean, file: 'davit.yaml', zone: 'Asia/Tokyo', timeout: 9 },
    { name: 'nightly', file: '' },
  ])
})

test('the next commit changes and removes them, and leaves paused what was', async () => {
  const { ada, path, apply, ofFile, list } = await setUp(clean, report)
  const [, first] = await ofFile()
  await ada.put(`${path}/${first!.id}`, { enabled: false })
  apply([{ ...clean, command: 'true', schedule: '@hourly' }])
  expect(await ofFile()).toMatchObject([
    { id: first!.id, command: 'true', schedule: '@hourly', enabled: false, nextTimes: [] },
  ])
  apply(undefined)
  expect((await list()).map(({ name }) => name)).toEqual(['nightly'])
})

test('one that was paused stays so when a version without it goes back', async () => {
  const { ada, path, project, id, apply, endRuns, ofFile } = await setUp(clean, report)
  const [, first] = await ofFile()
  const one = `${path}/${first!.id}`
  await ada.post(`${one}/run`)
  endRuns('failed')
  await ada.put(one, { enabled: false })
  apply([report])
  expect((await ofFile()).map(({ name }) => name)).toEqual(['report'])
  for (const { status } of [
    await ada.get(one),
    await ada.put(one, { enabled: true }),
    await ada.post(`${one}/run`),
  ])
    expect(status).toBe(404)
  const { text } = await ada.page(`/projects/${project.id}/envs/${id}`)
  expect(text).not.toContain('failed last time')
  apply([report, clean])
  expect((await ofFile())[1]).toMatchObject({ id: first!.id, enabled: false, nextTimes: [] })
})

test('one that stays the same keeps its next time, also if that is due', async () => {
  const { apply, db, ofFile } = await setUp(clean)
  const id = (await ofFile())[0]!.id!
  const next = () =>
    (db.$client.query('SELECT next_at FROM schedules WHERE id = ?').get(id) as { next_at: number })
      .next_at
  db.$client.run('UPDATE schedules SET next_at = 1 WHERE id = ?', [id])
  apply([{ ...clean, command: 'other' }])
  expect(next()).toBe(1)
  apply([{ ...clean, schedule: '0 4 * * *' }])
  expect(next()).toBeGreaterThan(Date.now())
})

test('only the file changes them; they can be paused and run', async () => {
  const { ada, path, ofFile } = await setUp({ ...clean, zone: 'Asia/Tokyo', overlap: 'queue' })
  const id = (await ofFile())[0]!.id!
  const one = `${path}/${id}`
  const changed = await ada.put(one, { command: 'rm -rf /' })
  expect(changed.status).toBe(409)
  expect(changed.json.errors).toMatchObject([{ field: 'command' }])
  expect((await ada.put(one, { timeout: 9 })).status).toBe(409)
  for (const field of ['zone', 'overlap']) {
    const cleared = await ada.put(one, { [field]: null })
    expect(cleared).toMatchObject({ status: 409, json: { errors: [{ field }] } })
  }
  expect((await ada.delete(one)).status).toBe(409)
  const paused = await ada.put(one, { enabled: false, timeout: null, missed: null })
  expect(paused.json).toMatchObject({ enabled: false, zone: 'Asia/Tokyo', overlap: 'queue' })
  expect((await ada.post(`${one}/run`)).status).toBe(201)
  const { text } = await ada.page(path)
  expect(text).not.toContain('Delete clean')
  expect(text).toContain('Delete nightly')
})

test('a name of the user’s may be that of one in the file', async () => {
  const { ada, path, list } = await setUp(clean)
  expect((await ada.post(path, { ...clean, command: 'mine' })).status).toBe(201)
  expect(await list()).toHaveLength(3)
})
