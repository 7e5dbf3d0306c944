import { afterAll, expect, test } from 'bun:test'
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { restore } from '../../src/backups/restore/restore.ts'
import { getBackup, setBackup } from '../../src/backups/store.ts'
import type { Backup } from '../../src/backups/store.ts'
import { listTargets } from '../../src/backups/targets/store.ts'
import { Failure } from '../../src/platform/errors.ts'
import { made } from '../services/instances.ts'
import { testApp } from '../support/app.ts'
import { execIn } from '../support/exec.ts'
import { imageOf } from '../support/images/recipes.ts'
import { ensureRestic } from '../support/images/restic.ts'
import { ensureServiceImages } from '../support/machine.ts'
import { until } from '../support/until.ts'

await ensureServiceImages({ say: console.error })

const t = testApp({ DAVIT_RESTIC_IMAGE: await ensureRestic('0.18') }, { atEnd: afterAll })
const { signal } = new AbortController()
const root = t.logInAsAdmin()
const folder = mkdtempSync(join(tmpdir(), 'davit-target-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
await root.post('/settings/targets', { kind: 'directory', name: 'disk', path: folder })
const [target] = listTargets(t.db, root.user.id)
await (await t.deps.openRestic(target!)).prepare({ signal })

/** A service, with a way to run commands in it, and one to back it up. */
async function aService(compose: string) {
  const { id, containers } = await made(t, root, compose, { name: `s-${crypto.randomUUID()}` })
  const run = async (script: string) => {
    const { exitCode, output } = await execIn(containers[0].id, ['sh', '-c', script], {})
    if (exitCode !== 0) throw new Error(output)
    return output.trim()
  }
  return {
    run,
    async backUp() {
      const { json, text } = await root.post(`/services/${id}/backups`, { targetId: target!.id })
      if (!json?.id) throw new Error(text)
      await t.jobs.idle()
      const backup = getBackup(t.db, json.id)!
      expect([backup.status, backup.errorMessage]).toEqual(['succeeded', null])
      return backup
    },
    /** The code of its failure; null once it has succeeded. */
    restored: (backup: Backup) =>
      restore(t.deps, {
        ...{ backup, into: { kind: 'service', id, isNew: false }, database: null },
        ...{ withVolumes: true, isStarting: false, log: { write() {} } as never, note() {} },
        work: { signal, shutdown: signal, releaseSlot() {}, async takeSlot() {} },
      }).then(
        () => null,
        (error) => (error instanceof Failure ? error.code : Promise.reject(error)),
      ),
  }
}

const packs = () =>
  readdirSync(join(folder, 'data'), { recursive: true, withFileTypes: true }).flatMap((one) =>
    one.isFile() ? join(one.parentPath, one.name) : [],
  )

/** Changes a byte near the end of all large files that a backup adds to the target. Returns what makes them whole. */
async function harmed(backUp: () => Promise<Backup>) {
  const before = new Set(packs())
  const backup = await backUp()
  const added = packs().flatMap((path) =>
    before.has(path) ? [] : { path, was: readFileSync(path) },
  )
  const large = added.filter(({ was }) => was.length > 500_000)
  expect(large).not.toEqual([])
  for (const { path, was } of large) {
    const bytes = Buffer.from(was)
    bytes[Math.floor(bytes.length * 0.9)]! ^= 1
    chmodSync(path, 0o600)
    writeFileSync(path, bytes)
  }
  return {
    backup,
    mend: () => large.forEach(({ path, was }) => writeFileSync(path, was)),
  }
}

test('a MariaDB keeps its rows when the target has damaged or other data, and is restored from whole ones', async () => {
  const shop = await aService(`
services:
  db:
    image: ${await imageOf('mariadb')}
    environment: { MARIADB_ROOT_PASSWORD: secret, MARIADB_DATABASE: app, MARIADB_USER: ada, MARIADB_PASSWORD: hers }
    volumes: ["data:/var/lib/mysql"]
volumes: { data: {} }
`)
  const sql = (text: string) =>
    shop.run(`MYSQL_PWD=secret mariadb -h127.0.0.1 -uroot -NBr app -e "${text}"`)
  await until(() =>
    sql('SELECT 1').then(
      () => true,
      () => false,
    ),
  )
  await sql(
    'CREATE TABLE orders (id INT PRIMARY KEY, note TEXT); INSERT INTO orders SELECT seq, CONCAT(MD5(RAND()), HEX(RANDOM_BYTES(900))) FROM seq_1_to_9000',
  )
  const { backup, mend } = await harmed(shop.backUp)
  await sql('CREATE TABLE of_today (a INT); INSERT INTO of_today VALUES (1)')
  const rows = 'SELECT (SELECT COUNT(*) FROM orders), (SELECT COUNT(*) FROM of_today)'
  expect(await shop.restored(backup)).toBe('target_damaged')
  expect(await sql(rows)).toBe('9000\t1')

  mend()
  const files = backup.files.map((one) => ({ ...one, checksum: 'of another' }))
  setBackup(t.db, backup.id, { files })
  expect(await shop.restored(getBackup(t.db, backup.id)!)).toBe('backup_changed')
  expect(await sql(rows)).toBe('9000\t1')

  expect(await shop.restored(backup)).toBeNull()
  expect(await sql('SELECT COUNT(*) FROM orders; SHOW TABLES')).toBe('9000\norders')
}, 300_000)

test('volumes keep their files, and what uses them runs on, when the target has damaged data', async () => {
  const notes = await aService(`
services:
  one: { image: busybox, init: true, command: [sleep, "9999"], volumes: ["data:/data"] }
volumes: { data: {} }
`)
  await notes.run('head -c 3000000 /dev/urandom >/data/large; echo old >/data/small')
  const { backup, mend } = await harmed(notes.backUp)
  await notes.run('echo today >/data/small; touch /tmp/runs')
  const sums = 'cat /data/* | md5sum; ls /tmp/runs'
  const before = await notes.run(sums)
  expect(await notes.restored(backup)).toBe('target_damaged')
  expect(await notes.run(sums)).toBe(before)

  mend()
  expect(await notes.restored(backup)).toBeNull()
  expect(await notes.run('cat /data/small')).toBe('old')
}, 300_000)
