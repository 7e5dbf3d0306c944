import { expect, onTestFinished, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { listTargets } from '../../src/backups/targets/store.ts'
import { aService } from '../services/real/a-service.ts'
import { testApp } from '../support/app.ts'
import { ensureRestic } from '../support/images/restic.ts'
import { ensureServiceImages } from '../support/machine.ts'

await ensureServiceImages({ say: console.error })

type Server = {
  template: string
  /** Lines of a shell in its container. */
  fill: string
  count: string
  lose: string
  tables: { name: string; rows: number }[]
  /** What its template asks the restored copy, and a change after which that selects nothing. */
  query?: { asks: string; answer: string; spoil: string }
}

const mariadb = 'mariadb -uroot -p"$MARIADB_ROOT_PASSWORD" -h127.0.0.1 -N app -e'
const postgresql = 'psql -XAtq -v ON_ERROR_STOP=1 -U davit -d app -c'
const redis = 'export REDISCLI_AUTH="$REDIS_PASSWORD"; redis-cli'

const servers: Server[] = [
  {
    template: 'mariadb',
    fill: `${mariadb} "CREATE TABLE orders (id INT PRIMARY KEY, code CHAR(32)); INSERT INTO orders SELECT seq, MD5(seq) FROM seq_1_to_5000"`,
    count: `${mariadb} "SELECT COUNT(*) FROM orders"`,
    lose: `${mariadb} "DROP TABLE orders"`,
    tables: [{ name: 'orders', rows: 5000 }],
    query: {
      asks: '    queries: { db: { database: app, sql: "SELECT code FROM orders WHERE id = 7" } }',
      answer: '8f14e45fceea167a5a36dedd4bea2543',
      spoil: `${mariadb} "UPDATE orders SET id = 5007 WHERE id = 7"`,
    },
  },
  {
    template: 'postgresql',
    fill: `${postgresql} "CREATE TABLE orders AS SELECT n AS id, md5(n::text) AS code FROM generate_series(1, 5000) n"`,
    count: `${postgresql} "SELECT count(*) FROM orders"`,
    lose: `${postgresql} "DROP TABLE orders"`,
    tables: [{ name: 'public.orders', rows: 5000 }],
    query: {
      asks: '    queries: { db: { database: app, sql: "SELECT code FROM orders WHERE id = 7" } }',
      answer: '8f14e45fceea167a5a36dedd4bea2543',
      spoil: `${postgresql} "UPDATE orders SET id = 5007 WHERE id = 7"`,
    },
  },
  {
    template: 'redis',
    fill: `${redis} eval "for n = 1, 5000 do redis.call('SET', 'key:' .. n, n) end" 0`,
    count: `${redis} dbsize`,
    lose: `${redis} flushall`,
    tables: [{ name: 'keys', rows: 5000 }],
  },
]

test.each(servers)('a $template is backed up, proven and restored by the jobs', async (server) => {
  const { template, fill, count, lose, tables, query } = server
  const path = mkdtempSync(join(tmpdir(), 'davit-target-'))
  const templates = mkdtempSync(join(tmpdir(), 'davit-templates-'))
  onTestFinished(() => {
    for (const one of [path, templates]) rmSync(one, { recursive: true, force: true })
  })
  if (query) {
    const text = readFileSync(`src/services/templates/${template}.yaml`, 'utf8')
    const own = text.replace(/^  backup:\n.*$/m, (found) => `${found}\n${query.asks}`)
    writeFileSync(join(templates, `${template}.yaml`), own)
  }
  const t = testApp({
    DAVIT_RESTIC_IMAGE: await ensureRestic('0.18'),
    DAVIT_TEMPLATES_DIR: templates,
  })
  const root = t.logInAsAdmin()
  await root.post('/settings/targets', { kind: 'directory', name: 'disk', path })
  const [target] = listTargets(t.db, root.user.id)
  const { signal } = new AbortController()
  await (await t.deps.openRestic(target!)).prepare({ signal })
  const service = await aService(t, root, template)
  const [{ part }] = (await service.see()).containers
  const run = async (script: string) => {
    const { exitCode, output } = await service.run(part, ['sh', '-c', script])
    if (exitCode !== 0) throw new Error(output)
    return output.trim()
  }
  await run(fill)
  expect(await run(count)).toBe('5000')

  const { json, text } = await root.post(`/services/${service.id}/backups`, {})
  if (!json?.id) throw new Error(text)
  const after = async (work: Promise<{ status: number; text: string }>) => {
    const { status, text } = await work
    if (status >= 300) throw new Error(text)
    await t.jobs.idle()
    return (await root.get(`/backups/${json.id}`)).json
  }
  await t.jobs.idle()
  const backup = (await root.get(`/backups/${json.id}`)).json
  expect(backup).toMatchObject({ status: 'succeeded', error: null, rows: 5000 })
  expect(backup.contents[0].databases[0].tables).toMatchObject(tables)
  const { proven } = await after(root.post(`/backups/${json.id}/prove`, {}))
  expect(proven).toMatchObject({ rows: 5000, error: null })
  if (query) {
    expect((await root.get(`/backups/${json.id}/logs`)).text).toContain(query.answer)
    await run(query.spoil)
    const { json: spoilt } = await root.post(`/services/${service.id}/backups`, {})
    await t.jobs.idle()
    await after(root.post(`/backups/${spoilt.id}/prove`, {}))
    const [event] = (await root.get('/settings/events')).json.items
    expect(event).toMatchObject({ kind: 'backup_unproven', level: 'failure' })
    expect((await root.get(`/backups/${spoilt.id}`)).json.proven.error).toContain('query')
  }

  await run(lose)
  const { restore } = await after(root.post(`/backups/${json.id}/restore`, { backupFirst: false }))
  expect(restore).toMatchObject({ status: 'succeeded', error: null })
  expect(await run(count)).toBe('5000')

  // what the dump says that it has isn't what is there
  const lie = (text: string) => text.replaceAll(':5000', ':5001')
  const { contents } = t.db.$client
    .query('SELECT contents FROM backups WHERE id = ?')
    .get(json.id) as { contents: string }
  t.db.$client.run('UPDATE backups SET contents = ? WHERE id = ?', [lie(contents), json.id])
  const { proven: failed } = await after(root.post(`/backups/${json.id}/prove`, {}))
  expect(failed.error).toContain('5001')
  const labels = ['davit.kind=backup', `davit.instance=${t.deps.instanceId}`]
  expect(await t.docker.listContainers({ labels, all: true })).toEqual([])
})
