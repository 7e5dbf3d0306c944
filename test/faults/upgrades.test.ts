import { expect, onTestFinished, test } from 'bun:test'
import { Database } from 'bun:sqlite'
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openDatabase, openLogDatabase } from '../../src/db/index.ts'
import { root } from '../../src/platform/root.ts'

const kinds = {
  state: { folder: 'drizzle', open: openDatabase, table: 'audit_events', since: 1 },
  logs: { folder: 'drizzle/logs', open: openLogDatabase, table: 'samples', since: 2 },
} as const

type Kind = keyof typeof kinds

const rows = 5000

/** What is left is of one schema, whole, and the next start upgrades it with every row. */
test('an upgrade of an earlier schema that is killed in its middle is done at the next start', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'davit-upgrade-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  const all = (['state', 'logs'] as const).flatMap((kind) => earlier(kind, directory))
  for (const make of [all[0]!, all[all.length >> 1]!, all.at(-1)!]) {
    const old = make()
    await upgrade(old, Math.random() * (await upgrade(old, Infinity)))
    const left = lookAt(old)
    expect(left, `${old.kind} ${old.version}`).toEqual({ ...left, isSound: true, isWhole: true })
    expect(left.applied).toBeOneOf([old.version, old.all])
    expect(old.open()).toBe(rows)
  }
})

type Old = ReturnType<ReturnType<typeof earlier>[number]>

/** Makes a database of each version of the schema but the newest, which rebuilds the table that has the rows. */
function earlier(kind: Kind, directory: string) {
  const { folder, open, table, since } = kinds[kind]
  const newest = withRebuild(join(root, folder), join(directory, kind), table)
  const all = journalOf(newest).entries.length
  return Array.from({ length: all - since }, (_, at) => () => {
    const version = at + since
    const old = cut(newest, join(directory, `${kind}-${version}`), version)
    const template = join(directory, `${kind}-${version}.db`)
    const { $client } = open(template, old)
    fill($client, table)
    $client.run('PRAGMA wal_checkpoint(TRUNCATE)')
    $client.close()
    const path = join(directory, `${kind}.db`)
    return {
      kind,
      version,
      all,
      path,
      template,
      newest,
      /** Upgrades it to the end; answers the rows that it has then. */
      open() {
        const { $client } = open(path, newest)
        const { n } = $client.query<{ n: number }, []>(`SELECT count(*) AS n FROM ${table}`).get()!
        $client.close()
        return n
      },
      /** What a new database has after so many migrations. */
      schemaAfter(applied: number) {
        const { $client } = open(':memory:', cut(newest, join(directory, 'cut'), applied))
        return schemaOf($client)
      },
    }
  })
}

/** Upgrades a database as Davit's start does: it is there to be killed. */
const opening = `
  const [kind, path, migrations] = process.argv.slice(1)
  const { openDatabase, openLogDatabase } = await import('${root}/src/db/index.ts')
  process.stdout.write('opening\\n')
  const open = kind === 'logs' ? openLogDatabase : openDatabase
  open(path, migrations).$client.close()`

/** Starts the upgrade of a fresh copy and kills it after so many milliseconds; answers how long it ran. */
async function upgrade({ kind, path, template, newest }: Old, after: number) {
  for (const end of ['', '-wal', '-shm']) rmSync(path + end, { force: true })
  cpSync(template, path)
  const child = Bun.spawn([process.execPath, '-e', opening, kind, path, newest], {
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'inherit',
  })
  const reader = child.stdout.getReader()
  await reader.read()
  const begun = performance.now()
  if (after < Infinity) setTimeout(() => child.kill('SIGKILL'), after)
  await child.exited
  return performance.now() - begun
}

function lookAt(old: Old) {
  using sqlite = new Database(old.path)
  const { applied } = sqlite
    .query<{ applied: number }, []>('SELECT count(*) AS applied FROM __drizzle_migrations')
    .get()!
  const isSound = sqlite.query('PRAGMA integrity_check').values()[0]![0] === 'ok'
  const isWhole = Bun.deepEquals(schemaOf(sqlite), old.schemaAfter(applied))
  return { applied, isSound, isWhole }
}

const schemaOf = (sqlite: Database) =>
  sqlite
    .query("SELECT sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%' ORDER BY name")
    .values()

type Journal = { entries: { idx: number; when: number; tag: string }[] }

const journalPath = (folder: string) => join(folder, 'meta/_journal.json')
const journalOf = (folder: string) =>
  JSON.parse(readFileSync(journalPath(folder), 'utf8')) as Journal

/** The migrations, and one more that has to copy every row. */
function withRebuild(from: string, to: string, table: string) {
  cpSync(from, to, { recursive: true })
  const journal = journalOf(to)
  const last = journal.entries.at(-1)!
  journal.entries.push({ ...last, idx: last.idx + 1, when: last.when + 1, tag: '9999_rebuild' })
  writeFileSync(journalPath(to), JSON.stringify(journal))
  const steps = [
    `CREATE TABLE __new AS SELECT * FROM ${table};`,
    `DROP TABLE ${table};`,
    `ALTER TABLE __new RENAME TO ${table};`,
  ]
  writeFileSync(join(to, '9999_rebuild.sql'), steps.join('--> statement-breakpoint\n'))
  return to
}

function cut(from: string, to: string, version: number) {
  rmSync(to, { recursive: true, force: true })
  cpSync(from, to, { recursive: true })
  const journal = journalOf(to)
  writeFileSync(
    journalPath(to),
    JSON.stringify({ ...journal, entries: journal.entries.slice(0, version) }),
  )
  return to
}

/** Rows that have something in every column which wants it. */
function fill(sqlite: Database, table: string) {
  type Column = { name: string; type: string; notnull: number; dflt_value: string | null }
  const columns = sqlite
    .query<Column, []>(`PRAGMA table_info(${table})`)
    .all()
    .filter(({ notnull, dflt_value }) => notnull === 1 && dflt_value === null)
  const values = columns.map(({ type }) => (type === 'integer' ? 'n' : "printf('text %d', n)"))
  const names = columns.map(({ name }) => name).join(', ')
  sqlite.run(
    `WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < ${rows})
     INSERT INTO ${table} (${names}) SELECT ${values.join(', ')} FROM c`,
  )
}
