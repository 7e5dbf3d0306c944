import { expect, onTestFinished, test } from 'bun:test'
import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { getService } from '../../src/services/store.ts'
import { definitionOf } from '../../src/services/stored-definition.ts'
import { listTargets } from '../../src/backups/targets/store.ts'
import { aService } from '../services/real/a-service.ts'
import { testApp } from '../support/app.ts'
import { execIn } from '../support/exec.ts'
import { ensureRestic } from '../support/images/restic.ts'
import { ensureServiceImages } from '../support/machine.ts'

await ensureServiceImages({ say: console.error })

/** A PostgreSQL of the catalogue with a shop in it, and a directory as target. */
async function aShop() {
  const t = testApp({ DAVIT_RESTIC_IMAGE: await ensureRestic() })
  const root = t.logInAsAdmin()
  const folder = mkdtempSync(join(tmpdir(), 'davit-target-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const { json: target, text } = await root.post('/settings/targets', {
    ...{ kind: 'directory', name: 'disk', path: folder },
  })
  if (!target?.id) throw new Error(text)
  const [row] = listTargets(t.db, root.user.id)
  const { signal } = new AbortController()
  await (await t.deps.openRestic(row!)).prepare({ signal })
  const db = await aService(t, root, 'postgresql', {})
  const containerId = await db.container('db')
  const sql = async (text: string) => {
    const command = ['psql', '-XAtq', '-U', 'davit', '-d', 'app', '-c', text]
    const { exitCode, output } = await execIn(containerId, command, {})
    if (exitCode !== 0) throw new Error(output)
    return output.trim()
  }
  await sql(
    'CREATE TABLE orders AS SELECT n AS id, md5(n::text) AS code FROM generate_series(1, 5000) n',
  )
  return { t, root, target, db, sql, folder, path: `/services/${db.id}/backups` }
}

test('a PostgreSQL is backed up by button and by its plan, with its tables and rows', async () => {
  const { t, root, target, path, sql } = await aShop()
  const backUp = async () => {
    const { json, text } = await root.post(path, {})
    if (!json?.id) throw new Error(text)
    await t.jobs.ended(json.id)
    return (await root.get(`/backups/${json.id}`)).json
  }
  const first = await backUp()
  expect(first).toMatchObject({
    status: 'succeeded',
    error: null,
    rows: 5000,
    targetId: target.id,
    contents: [
      {
        component: 'db',
        engine: 'postgresql',
        databases: [
          { name: 'app', tables: [{ name: 'public.orders', rows: 5000 }] },
          { name: 'postgres' },
        ],
      },
    ],
  })
  expect(first.files.map(({ file }: { file: string }) => file)).toEqual([
    'db-roles.sql',
    'db/app.dump',
    'db/postgres.dump',
  ])
  await sql('INSERT INTO orders SELECT n, md5(n::text) FROM generate_series(5001, 5100) n')
  const second = await backUp()
  expect(second).toMatchObject({ status: 'succeeded', rows: 5100 })
}, 300_000)

test('a backup is restored where nothing else is, and compared with what was stored', async () => {
  const { t, root, path, folder } = await aShop()
  const { json } = await root.post(path, {})
  await t.jobs.ended(json.id)
  const prove = async () => {
    const { status, json: asked } = await root.post(`/backups/${json.id}/prove`, {})
    expect([status, asked.proving]).toEqual([200, true])
    expect((await root.post(`/backups/${json.id}/prove`, {})).status).toBe(409)
    await t.jobs.idle()
    return (await root.get(`/backups/${json.id}`)).json
  }
  expect(await prove()).toMatchObject({ proving: false, proven: { rows: 5000, error: null } })
  const labels = ['davit.kind=backup', `davit.instance=${t.deps.instanceId}`]
  expect(await t.docker.listContainers({ labels, all: true })).toEqual([])
  const events = async () =>
    (await root.get('/settings/events')).json.items.map(({ kind }: any) => kind)
  expect(await events()).not.toContain('backup_unproven')

  // one byte of the largest pack
  const [pack] = listPacks(folder).sort((a, b) => statSync(b).size - statSync(a).size)
  const bytes = readFileSync(pack!)
  bytes[bytes.length >> 1]! ^= 1
  chmodSync(pack!, 0o600)
  writeFileSync(pack!, bytes)
  const { proven } = await prove()
  expect(proven.error).toBeString()
  expect(await events()).toContain('backup_unproven')
}, 300_000)

test('a restore brings back what was there, after a backup of what it replaces', async () => {
  const { t, root, path, sql } = await aShop()
  const { json } = await root.post(path, {})
  await t.jobs.ended(json.id)
  const headers = { Accept: 'application/json' }
  const file = await root.send(`/backups/${json.id}/download?file=db/app.dump`, { headers })
  expect((await file.text()).startsWith('PGDMP')).toBe(true)
  await sql('CREATE TABLE later AS SELECT 1 AS n')
  await sql('DROP TABLE orders')
  const { status, text } = await root.post(`/backups/${json.id}/restore`, {})
  expect(status, text).toBe(200)
  expect((await root.post(`/backups/${json.id}/restore`, {})).status).toBe(409)
  await t.jobs.idle()
  const { restore } = (await root.get(`/backups/${json.id}`)).json
  expect(restore).toMatchObject({ status: 'succeeded', database: null, error: null })
  expect(await sql('SELECT count(*), max(id) FROM orders')).toBe('5000|5000')
  expect(await sql("SELECT to_regclass('later') IS NULL")).toBe('t')

  const back = { database: 'app', backupFirst: false }
  expect((await root.post(`/backups/${restore.before}/restore`, back)).status).toBe(200)
  await t.jobs.idle()
  expect((await root.get(`/backups/${restore.before}`)).json.restore).toMatchObject({
    ...{ status: 'succeeded', database: 'app', before: null },
  })
  expect(await sql('SELECT n FROM later')).toBe('1')
  expect(await sql("SELECT to_regclass('orders') IS NULL")).toBe('t')

  // a newer major version is refused before anything is touched
  t.db.$client.run(
    `UPDATE backups SET contents = replace(contents, '"version":"', '"version":"99') WHERE id = '${json.id}'`,
  )
  await root.post(`/backups/${json.id}/restore`, { backupFirst: false })
  await t.jobs.idle()
  expect((await root.get(`/backups/${json.id}`)).json.restore.status).toBe('failed')
  expect(await sql('SELECT n FROM later')).toBe('1')
}, 300_000)

test('a deleted PostgreSQL is restored into a new one, with passwords of its own', async () => {
  const { t, root, path, db, sql } = await aShop()
  await sql("CREATE ROLE reader LOGIN PASSWORD 'known'")
  await sql('GRANT SELECT ON orders TO reader')
  const { json } = await root.post(path, {})
  await t.jobs.ended(json.id)
  const valuesOf = async (id: string) => (await definitionOf(t.deps, getService(t.db, id)!)).values
  const before = await valuesOf(db.id)
  expect((await root.delete(`/services/${db.id}?volumes=true`)).status).toBe(200)

  const asked = { into: 'new', name: 'again' }
  const { status, text } = await root.post(`/backups/${json.id}/restore`, asked)
  expect(status, text).toBe(201)
  await t.jobs.idle()
  const { restore } = (await root.get(`/backups/${json.id}`)).json
  expect(restore).toMatchObject({ status: 'succeeded', error: null, into: { name: 'again' } })
  const { id } = restore.into
  const { json: again } = await root.get(`/services/${id}`)
  expect(again).toMatchObject({ template: 'postgresql', status: 'running' })
  const after = await valuesOf(id)
  expect(after.get('POSTGRES_USER')).toBe(before.get('POSTGRES_USER')!)
  expect(after.get('POSTGRES_PASSWORD')).not.toBe(before.get('POSTGRES_PASSWORD')!)
  const [container] = await t.docker.listContainers({ labels: [`davit.service=${id}`] })
  const query = async (env: Record<string, string>, user: string, text: string) => {
    const command = ['psql', '-XAtq', '-h', '127.0.0.1', '-U', user, '-d', 'app', '-c', text]
    const { exitCode, output } = await execIn(container!.id, command, { env })
    return exitCode === 0 ? output.trim() : 'refused'
  }
  const count = 'SELECT count(*), max(id) FROM orders'
  const now = { PGPASSWORD: after.get('POSTGRES_PASSWORD')! }
  expect(await query(now, 'davit', count)).toBe('5000|5000')
  expect(await query({ PGPASSWORD: 'known' }, 'reader', count)).toBe('5000|5000')
  const then = { PGPASSWORD: before.get('POSTGRES_PASSWORD')! }
  expect(await query(then, 'davit', count)).toBe('refused')
}, 300_000)

const listPacks = (folder: string) =>
  readdirSync(join(folder, 'data'), { recursive: true, withFileTypes: true }).flatMap((one) =>
    one.isFile() ? join(one.parentPath, one.name) : [],
  )
