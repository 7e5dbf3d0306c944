import { afterAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openRestic } from '../../src/backups/restic/restic.ts'
import { getTarget } from '../../src/backups/targets/store.ts'
import { made } from '../services/instances.ts'
import { testApp } from '../support/app.ts'
import { execIn } from '../support/exec.ts'
import { ensureRestic } from '../support/images/restic.ts'

const settings = '/settings/targets'
const t = testApp(
  { DAVIT_RESTIC_IMAGE: await ensureRestic('0.18') },
  {
    atEnd: afterAll,
    tryOut: (target, options) => openRestic(t.deps, target).tryOut(options),
    listTarget: (target, options) => openRestic(t.deps, target).list(options),
  },
)
const root = t.logInAsAdmin()
const folder = mkdtempSync(join(tmpdir(), 'davit-again-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

test('a repository whose target is added again gives back its backups: proven, restored, kept, removed', async () => {
  const compose =
    'services: { one: { image: busybox, init: true, command: [sleep, "9999"], volumes: ["data:/data"] } }\nvolumes: { data: {} }'
  const { id, containers } = await made(t, root, compose)
  const run = (script: string) => execIn(containers[0].id, ['sh', '-c', script])
  const backUp = async (targetId: string) => {
    const { json, text } = await root.post(`/services/${id}/backups`, { targetId })
    if (!json?.id) throw new Error(text)
    await t.jobs.idle()
    return json.id as string
  }
  const see = async (backup: string) => (await root.get(`/backups/${backup}`)).json
  const addTarget = async () => {
    const { json, text } = await root.post(settings, {
      ...{ kind: 'directory', name: 'disk', path: folder },
    })
    if (!json?.id) throw new Error(text)
    return json.id as string
  }
  await run('echo first > /data/file')
  const target = await addTarget()
  const [proven, other] = [await backUp(target), await backUp(target)]
  expect((await root.delete(`${settings}/${target}`)).status).toBe(200)
  expect((await root.post(`/backups/${proven}/prove`)).status).toBe(409)

  const again = await addTarget()
  await root.post(`/backups/${proven}/prove`)
  await t.jobs.idle()
  expect(await see(proven)).toMatchObject({ targetId: again, proven: { error: null } })
  await run('echo second > /data/file')
  await root.post(`/backups/${proven}/restore`, { backupFirst: false })
  await t.jobs.idle()
  expect((await see(proven)).restore).toMatchObject({ status: 'succeeded', error: null })
  expect((await run('cat /data/file')).output).toBe('first')
  const download = await root.get(`/backups/${proven}/download?file=volumes`)
  expect([download.status, download.text.includes('first')]).toEqual([200, true])

  const plan = { targetId: again, schedule: '0 3 * * *', keepLast: 1, prove: 'never' }
  expect((await root.put(`/services/${id}/backups/plan`, plan)).status).toBe(200)
  const last = await backUp(again)
  const restic = await t.deps.openRestic(getTarget(t.db, { id: again, ownerId: root.user.id })!)
  const stored = async () => {
    const listed = await restic.list(new AbortController())
    const tags = listed.flatMap(({ tags }) => tags.filter((tag) => tag.startsWith('backup=')))
    return [...new Set(tags)]
  }
  expect(await stored()).toEqual([`backup=${proven}`, `backup=${last}`])
  expect((await see(other)).removedAt).not.toBeNull()
  expect((await root.delete(`/backups/${proven}`)).status).toBe(200)
  expect(await stored()).toEqual([`backup=${last}`])
})
