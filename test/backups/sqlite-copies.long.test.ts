import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { listTargets } from '../../src/backups/targets/store.ts'
import { connectDocker } from '../../src/docker/index.ts'
import { pinTo } from '../../src/runtime/pins.ts'
import { made } from '../services/instances.ts'
import { testApp } from '../support/app.ts'
import { execIn } from '../support/exec.ts'
import { ensureRestic } from '../support/images/restic.ts'
import { ensureStandIns } from '../support/images/stand-ins.ts'
import { serverId, storeServers } from '../support/servers.ts'
import { until } from '../support/until.ts'

// The other server is this machine’s engine, too.

const python = 'python:3.13-slim'
await ensureStandIns([python])
const env = { DAVIT_RESTIC_IMAGE: await ensureRestic('0.18'), DAVIT_SQLITE_IMAGE: python }
const second = connectDocker({ host: process.env.DOCKER_HOST, serverId: serverId(2) })
const t = testApp(env, { otherEngines: [second], atEnd: afterAll })
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
  storeServers(t.db, [{}, {}])
})

async function inService(command: string[]) {
  const labels = [`davit.service=${service.id}`]
  const [one] = await t.docker.listContainers({ labels })
  const { exitCode, output } = await execIn(one!.id, command)
  if (exitCode !== 0) throw new Error(output)
  return output
}

/** Runs Python in the service, in its volume. */
const run = (script: string) =>
  inService(['python3', '-c', `import os, sqlite3\nos.chdir('/data')\n${script}`])

/** Runs it beside the service’s own process, and waits until it has made /tmp/began. Returns what ends it. */
async function beside(script: string) {
  const line = 'rm -f /tmp/began; cd /data; python3 -c "$1" >/tmp/said 2>&1 & echo $! >/tmp/pid'
  const text = `import os, sqlite3, time\nbegan = lambda: open('/tmp/began', 'w').close()\n${script}`
  await inService(['sh', '-c', line, 'sh', text])
  await until(async () => (await run(`print(os.path.exists('/tmp/began'))`)) === 'True')
  return () => inService(['sh', '-c', 'kill -9 $(cat /tmp/pid)'])
}

async function backedUp() {
  const { json, text } = await root.post(`/services/${service.id}/backups`, {
    ...{ targetId, hold: 'none' },
  })
  if (!json?.id) throw new Error(text)
  await t.jobs.idle()
  const backup = (await root.get(`/backups/${json.id}`)).json
  return { ...backup, log: (await root.get(`/backups/${json.id}/logs`)).text }
}

async function proven({ id }: { id: string }) {
  await root.post(`/backups/${id}/prove`, {})
  await t.jobs.idle()
  return (await root.get(`/backups/${id}`)).json.proven
}

async function restored({ id }: { id: string }) {
  await root.post(`/backups/${id}/restore`, { backupFirst: false })
  await t.jobs.idle()
  return (await root.get(`/backups/${id}`)).json.restore
}

const writer = `
os.makedirs('deep', exist_ok=True)
db = sqlite3.connect('deep/app.db', isolation_level=None)
db.execute('PRAGMA journal_mode = wal')
db.execute('CREATE TABLE IF NOT EXISTS one (x)')
db.execute('CREATE TABLE IF NOT EXISTS other (x)')
os.chown('deep/app.db', 1234, 4321)
os.chmod('deep/app.db', 0o640)
while True:
    db.execute('BEGIN IMMEDIATE')
    for table in ('one', 'other'):
        db.execute(f'INSERT INTO {table} VALUES (?)', ('x' * 3000,))
    db.execute('COMMIT')
    began()`

const look = `
db = sqlite3.connect('deep/app.db')
found = db.execute('PRAGMA integrity_check').fetchone()
counts = db.execute('SELECT (SELECT count(*) FROM one), (SELECT count(*) FROM other)').fetchone()
about = os.stat('deep/app.db')
print(found == ('ok',), counts[0] == counts[1] > 0, about.st_uid, about.st_gid, oct(about.st_mode))`

const whole = 'True True 1234 4321 0o100640'

async function isWholeAgain() {
  const end = await beside(writer)
  const backup = await backedUp()
  await end()
  expect([backup.status, backup.error]).toEqual(['succeeded', null])
  expect(await proven(backup)).toMatchObject({ error: null })
  expect(await restored(backup)).toMatchObject({ status: 'succeeded', error: null })
  expect(await run(`print(os.listdir('deep'))`)).toBe(`['app.db']`)
  expect(await run(look)).toBe(whole)
  return backup
}

test('a database that its app writes to all the time is stored whole, proven and restored', async () => {
  const { id } = await isWholeAgain()
  const download = await root.get(`/backups/${id}/download?file=volumes`)
  expect(download.status).toBe(200)
  expect(download.text).toContain('copies/volumes/_data/deep/app.db')
}, 300_000)

/** What a log of SQLite has alone changes neither the size nor the time of the database. */
async function isOfNow() {
  const end = await beside(`
db = sqlite3.connect('same.db', isolation_level=None)
db.execute('PRAGMA journal_mode = wal')
db.execute('CREATE TABLE IF NOT EXISTS things (x)')
db.execute('DELETE FROM things')
db.execute("INSERT INTO things VALUES ('first')")
began()
time.sleep(9999)`)
  await backedUp()
  const same = `sqlite3.connect('same.db', isolation_level=None).execute`
  await run(`${same}("UPDATE things SET x = 'later'")`)
  const backup = await backedUp()
  await end()
  expect(await restored(backup)).toMatchObject({ status: 'succeeded', error: null })
  expect(await run(`print(${same}('SELECT x FROM things').fetchone()[0])`)).toBe('later')
}

test(
  'each backup has the rows of its time, though the database has its size and time of before',
  isOfNow,
  300_000,
)

test('a database that stays locked fails the backup, unless the plan accepts that it may be damaged', async () => {
  const end = await beside(`
db = sqlite3.connect('locked.db', isolation_level=None)
db.execute('CREATE TABLE things (x)')
db.execute('BEGIN EXCLUSIVE')
began()
time.sleep(9999)`)
  expect((await backedUp()).error).toMatchObject({
    code: 'sqlite_not_copied',
    message: expect.stringContaining('data/locked.db'),
  })
  const plan = `/services/${service.id}/backups/plan`
  await root.put(plan, { targetId, schedule: '0 3 1 1 *', acceptDamaged: ['data/locked.db'] })
  expect((await backedUp()).status).toBe('succeeded')
  await root.delete(plan)
  await end()
  await run(`os.remove('locked.db')`)
}, 300_000)

test('databases that SQLite can’t open read-only keep what their logs have, and odd names and files come back', async () => {
  await run(`
def killed(script):
    if os.fork():
        return os.wait()
    exec(script)
    os.kill(os.getpid(), 9)
name = 'we[i]rd *? \\\\ $HOME "' + 'n' * 150 + '.sqlite3'
killed("db = sqlite3.connect(name); db.execute('CREATE TABLE odd (x)'); db.commit()")
killed("""
db = sqlite3.connect('log.db', isolation_level=None)
db.execute('PRAGMA journal_mode = wal')
db.execute('CREATE TABLE things (x)')
db.execute('INSERT INTO things VALUES (1)')""")
os.remove('log.db-shm')
closed = sqlite3.connect('closed.db')
closed.execute('PRAGMA journal_mode = wal')
closed.execute('CREATE TABLE things (x)')
closed.close()
db = sqlite3.connect('hot.db')
db.execute('CREATE TABLE things (x)')
db.executemany('INSERT INTO things VALUES (?)', [('x' * 500,)] * 200)
db.commit()
killed("""
db = sqlite3.connect('hot.db', isolation_level=None)
db.execute('PRAGMA cache_size = 1')
db.execute('BEGIN')
db.execute('DELETE FROM things')""")
os.symlink('/proc/self/environ', 'log.db-journal')
os.symlink('/etc/hostname', 'link.db')
open('cut.db', 'wb').write(b'SQLite format 3\\0 and no more')`)
  const list = `print(sorted(os.listdir('.')))`
  const before = await run(list)
  expect(before).toContain(`'hot.db-journal'`)
  expect(before).toContain(`'log.db-wal'`)
  const backup = await backedUp()
  expect([backup.status, backup.error]).toEqual(['succeeded', null])
  expect((await proven(backup)).error).toContain('data/cut.db')
  await run(`
for name in os.listdir('.'):
    if name != 'deep': os.remove(name)`)
  expect(await restored(backup)).toMatchObject({ status: 'succeeded', error: null })
  const after = `['closed.db', 'cut.db', 'deep', 'hot.db', 'hot.db-journal', 'link.db', 'log.db', 'log.db-wal'`
  expect(await run(list)).toStartWith(after)
  const counts = await run(`
for name in sorted(os.listdir('.')):
    if name.endswith(('log.db', 'closed.db', 'hot.db', '3')):
        db = sqlite3.connect(name)
        table = 'odd' if name[0] == 'w' else 'things'
        print(name[:6], db.execute(f'SELECT count(*) FROM {table}').fetchone()[0])`)
  expect(counts.split('\n').map((line) => line.trim())).toEqual([
    ...['closed 0', 'hot.db 200', 'log.db 1', 'we[i]r 0'],
  ])
}, 300_000)

test('so is one on another server', async () => {
  await run(`os.remove('cut.db')`)
  pinTo(t.db, { id: service.id, kind: 'service' }, serverId(2))
  await isWholeAgain()
  await isOfNow()
}, 300_000)
