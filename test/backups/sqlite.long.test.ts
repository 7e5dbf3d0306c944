import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { listTargets } from '../../src/backups/targets/store.ts'
import { made } from '../services/instances.ts'
import { testApp } from '../support/app.ts'
import { execIn } from '../support/exec.ts'
import { ensureRestic } from '../support/images/restic.ts'
import { ensureStandIns } from '../support/images/stand-ins.ts'

const python = 'python:3.13-slim'
await ensureStandIns([python])
const env = { DAVIT_RESTIC_IMAGE: await ensureRestic('0.18'), DAVIT_SQLITE_IMAGE: python }
const t = testApp(env, { atEnd: afterAll })
const root = t.logInAsAdmin()
const folder = mkdtempSync(join(tmpdir(), 'davit-sqlite-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
let service: Awaited<ReturnType<typeof made>>
let targetId = ''

beforeAll(async () => {
  await root.post('/settings/targets', { kind: 'directory', name: 'disk', path: folder })
  const [target] = listTargets(t.db, root.user.id)
  targetId = target!.id
  await (await t.deps.openRestic(target!)).prepare(new AbortController())
  const compose = `services: { one: { image: '${python}', init: true, command: [sleep, "9999"], volumes: ["data:/data"] } }\nvolumes: { data: {} }`
  service = await made(t, root, compose)
})

/** Runs Python in the service, in its volume. */
async function write(script: string) {
  const text = `import os, sqlite3\nos.chdir('/data')\n${script}`
  return execIn(service.containers[0].id, ['python3', '-c', text])
}

/** Backs it up and proves it. */
async function proven() {
  const { json, text } = await root.post(`/services/${service.id}/backups`, { targetId })
  if (!json?.id) throw new Error(text)
  await t.jobs.idle()
  await root.post(`/backups/${json.id}/prove`, {})
  await t.jobs.idle()
  const { json: backup } = await root.get(`/backups/${json.id}`)
  const log = await root.get(`/backups/${json.id}/logs`)
  return { ...backup.proven, log: log.text }
}

test('without an SQLite database no row is counted', async () => {
  await write(`open('plain.db', 'w').write('no database')`)
  expect(await proven()).toMatchObject({ error: null, rows: null })
})

test('SQLite databases are opened, with what only their log has', async () => {
  await write(`
os.makedirs('sub folder', exist_ok=True)
other = sqlite3.connect('sub folder/it’s “other”.sqlite3')
other.execute('CREATE TABLE "a ""name" (x)')
other.execute('CREATE VIRTUAL TABLE texts USING fts5(body)')
other.execute('INSERT INTO "a ""name" VALUES (1), (2)')
other.commit()
own = sqlite3.connect('own.db3')
own.create_function('own', 1, lambda x: x, deterministic=True)
own.execute('CREATE TABLE things (x)')
own.execute('CREATE INDEX by_own ON things (own(x))')
own.commit()
os.symlink('/proc/self/environ', 'link.db')
app = sqlite3.connect('app.db')
app.execute('PRAGMA journal_mode = wal')
app.execute('CREATE TABLE people (id INTEGER PRIMARY KEY, name CHECK (length(zeroblob(900000000)) > 0 OR 1))')
app.executemany('INSERT INTO people (name) VALUES (?)', [('Ada',), ('Bob',), ('Cem',)])
app.commit()
os.symlink('/proc/self/environ', 'app.db-journal')
os.kill(os.getpid(), 9)`)
  const { exitCode } = await write(`os.stat('app.db-wal')`)
  expect(exitCode).toBe(0)
  const { rows, error, log } = await proven()
  expect({ rows: rows >= 5, error }).toEqual({ rows: true, error: null }) // the index of texts has rows, too
  expect(log).toContain('own.db3, of which not all')
  expect(log).toContain('data/app.db: 1 table, 3 rows')
  expect(log).not.toContain('link.db')
})

test('one that is damaged fails the proof', async () => {
  await write(`
db = sqlite3.connect('large.db')
db.execute('CREATE TABLE items (x)')
db.executemany('INSERT INTO items VALUES (?)', [('x' * 500,)] * 200)
db.commit()
db.close()
with open('large.db', 'r+b') as file:
    file.seek(3 * 4096)
    file.write(os.urandom(4096))`)
  const { error } = await proven()
  expect(error).toContain('data/large.db')
  const plan = { targetId, schedule: '0 3 1 1 *' }
  for (const [acceptDamaged, isFine] of [
    [['data/large.d', 'large.db'], false],
    [['data/large.db'], true],
    [['data'], true],
  ]) {
    const { status } = await root.put(`/services/${service.id}/backups/plan`, {
      ...plan,
      acceptDamaged,
    })
    expect(status).toBe(200)
    expect((await proven()).error === null).toBe(isFine as boolean)
  }
  await root.delete(`/services/${service.id}/backups/plan`)
  await write(
    `os.remove('large.db'); open('cut.db', 'wb').write(b'SQLite format 3\\0 and no more')`,
  )
  expect((await proven()).error).toContain('data/cut.db')
})
