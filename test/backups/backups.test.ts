import { expect, test } from 'bun:test'
import { away } from './simulated-restic.ts'
import { aService } from './scene.ts'

test('a backup stores the volumes while what writes to them is paused, and is shown with all it has', async () => {
  const s = await aService()
  let during: unknown
  s.restic.faults.storeVolumes = async (options) => {
    during = await s.states()
    return s.restic.usual.storeVolumes(options)
  }
  const backup = await s.backUp()
  expect(during).toEqual(['paused'])
  expect(await s.states()).toEqual(['running'])
  expect(backup).toMatchObject({
    subject: { kind: 'service', id: s.service.id, name: 'thing' },
    status: 'succeeded',
    error: null,
    bytes: 1000,
    addedBytes: expect.any(Number),
    rows: null,
    proven: null,
    files: [{ file: 'volumes', bytes: 1000, volumes: ['data'] }],
  })
  expect(s.restic.backups).toEqual([`backup=${backup.id}`])
  const list = (await s.ada.get(s.path)).json
  expect(list).toMatchObject({ plan: null, items: [{ id: backup.id }], nextCursor: null })
  const log = (await s.ada.get(`/backups/${backup.id}/logs`)).json
  expect(log.items.map(({ text }: { text: string }) => text)).toContain('Stored 1000 B of volumes.')
})

test('a backup that fails leaves nothing paused and nothing half stored', async () => {
  const s = await aService()
  s.restic.faults.storeVolumes = async ({ tags }) => {
    s.restic.add({ tags, paths: ['/half'], bytes: 1 })
    throw away()
  }
  for (const hold of ['pause', 'stop']) {
    const backup = await s.backUp({ hold })
    expect(backup).toMatchObject({ status: 'failed', error: { code: 'target_away' } })
    expect(await s.states()).toEqual(['running'])
    expect(s.restic.backups).toEqual([])
  }
})

test('a program that asks for a backup isn’t made to wait for what only its page shows', async () => {
  const s = await aService()
  const { id } = await s.backUp()
  s.t.logDb.$client.run('ALTER TABLE output_blocks RENAME TO away')
  expect((await s.ada.page(`/backups/${id}`)).status).toBe(500)
  expect(await s.ada.get(`/backups/${id}`)).toMatchObject({ status: 200, json: { id } })
})

test('a page that was opened while it ran shows what it has, and how to restore it, at its end', async () => {
  const s = await aService()
  let opened = ''
  s.restic.faults.storeVolumes = async (options) => {
    const [running] = (await s.ada.get(s.path)).json.items
    opened = (await s.ada.page(`/backups/${running.id}`)).text
    return s.restic.usual.storeVolumes(options)
  }
  const backup = await s.backUp()
  const headers = { Accept: 'text/html', 'HX-Request': 'true', 'Davit-Live': '1' }
  const changed = await (await s.ada.send(`/backups/${backup.id}`, { headers })).text()
  expect(opened).not.toContain(`/backups/${backup.id}/restore`)
  for (const has of [`/backups/${backup.id}/restore`, `/backups/${backup.id}/download`])
    expect(changed).toContain(has)
  const ids = [...changed.matchAll(/hx-target="#([\w-]+)" hx-swap="outerMorph"/g)]
  expect(ids.length).toBeGreaterThan(2)
  for (const [, id] of ids) expect(opened).toContain(` id="${id}"`)
})
