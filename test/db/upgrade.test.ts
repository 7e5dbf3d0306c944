import { expect, test } from 'bun:test'
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { insertUser } from '../../src/accounts/store.ts'
import { openDatabase, openLogDatabase } from '../../src/db/index.ts'
import { newId } from '../../src/db/new-id.ts'
import { openInstallation } from '../../src/db/installation.ts'
import { insertDeployment } from '../../src/deployments/store.ts'
import { listEnvironments } from '../../src/environments/store.ts'
import { insertProject } from '../../src/projects/store.ts'
import { root } from '../../src/platform/root.ts'
import { Secrets } from '../../src/platform/secrets.ts'
import { aFolder } from '../support/folder.ts'

/** The migrations, and one more that rebuilds the table of projects as drizzle-kit writes it. */
function withRebuild() {
  const folder = join(aFolder(), 'drizzle')
  cpSync(join(root, 'drizzle'), folder, { recursive: true })
  const path = join(folder, 'meta/_journal.json')
  const journal = JSON.parse(readFileSync(path, 'utf8'))
  const last = journal.entries.at(-1)
  journal.entries.push({ ...last, idx: last.idx + 1, when: last.when + 1, tag: '9999_rebuild' })
  writeFileSync(path, JSON.stringify(journal))
  writeFileSync(
    join(folder, '9999_rebuild.sql'),
    [
      'PRAGMA foreign_keys=OFF;',
      'CREATE TABLE `__new_projects` AS SELECT * FROM `projects`;',
      'DROP TABLE `projects`;',
      'ALTER TABLE `__new_projects` RENAME TO `projects`;',
      'CREATE UNIQUE INDEX `projects_by_id` ON `projects` (`id`);',
      'PRAGMA foreign_keys=ON;',
    ].join('--> statement-breakpoint\n'),
  )
  return folder
}

function fill(path: string) {
  const db = openDatabase(path)
  const owner = insertUser(db, {
    email: 'a@example.com',
    name: null,
    passwordHash: '',
    role: 'member',
  })
  const values = { ownerId: owner.id, name: 'site', repositoryUrl: 'x', webhookSecret: 'x' }
  const project = insertProject(db, values, { hostPort: 20_000 })
  const [environment] = listEnvironments(db, project.id)
  insertDeployment(db, {
    projectId: project.id,
    environmentId: environment!.id,
    trigger: 'manual',
    triggeredBy: owner.email,
    repositoryUrl: 'x',
  })
  db.$client.run('PRAGMA wal_checkpoint(TRUNCATE)')
  db.$client.close()
}

const counts = ({ $client }: ReturnType<typeof openDatabase>) =>
  ['projects', 'environments', 'deployments'].map(
    (table) => $client.query<{ n: number }, []>(`SELECT count(*) AS n FROM ${table}`).get()!.n,
  )

test('the journals of migrations are in order', () => {
  for (const folder of ['drizzle', 'drizzle/logs']) {
    const { entries } = JSON.parse(readFileSync(join(root, folder, 'meta/_journal.json'), 'utf8'))
    const times = entries.map(({ when }: { when: number }) => when)
    expect(entries.map(({ idx }: { idx: number }) => idx)).toEqual(
      times.map((_: number, i: number) => i),
    )
    expect(times).toEqual([...new Set(times)].sort())
    expect(Math.max(...times)).toBeLessThan(Date.now() + 86_400_000)
  }
})

/** How many migrations there were when this list was last extended, and the hash of their files. */
const released = {
  drizzle: { count: 29, hash: '03097d66a396a6f0ddc925728fbe54769cba3b539ccb92f7b04d1317c2fbd529' },
  'drizzle/logs': {
    count: 5,
    hash: '385b03fe5d42ec95e48f7094ce965c65232f031bd0f88c351c92670ea1a87ac6',
  },
}

test.each(Object.entries(released))(
  'the migrations in %s that databases have had never change',
  (folder, { count, hash }) => {
    const { entries } = JSON.parse(readFileSync(join(root, folder, 'meta/_journal.json'), 'utf8'))
    const hasher = new Bun.CryptoHasher('sha256')
    for (const { tag } of entries.slice(0, count))
      hasher.update(readFileSync(join(root, folder, `${tag}.sql`)))
    expect(hasher.digest('hex')).toBe(hash)
  },
)

test('the migrations make the schema that the code has', async () => {
  for (const [schema, folder] of [
    ['schema', 'drizzle'],
    ['log-schema', 'drizzle/logs'],
  ] as const) {
    const out = aFolder()
    cpSync(join(root, folder), out, { recursive: true })
    const options = {
      '--dialect': 'sqlite',
      '--casing': 'snake_case',
      '--schema': `src/db/${schema}.ts`,
      '--out': relative(root, out), // drizzle-kit takes no absolute one
    }
    const child = Bun.spawn(
      [
        process.execPath,
        'node_modules/drizzle-kit/bin.cjs',
        'generate',
        ...Object.entries(options).flat(),
      ],
      { cwd: root, stdin: 'ignore', stdout: 'pipe', stderr: 'pipe' },
    )
    const [said, complaint] = await Promise.all([child.stdout.text(), child.stderr.text()])
    expect(said + complaint).toContain('No schema changes')
  }
}, 30_000)

test('an upgrade that rebuilds a table keeps the rows below it', () => {
  const path = join(aFolder(), 'davit.db')
  fill(path)
  const db = openDatabase(path, withRebuild())
  expect(counts(db)).toEqual([1, 1, 1])
  expect(db.$client.query('PRAGMA foreign_keys').get()).toEqual({ foreign_keys: 1 })
  db.$client.close()
})

test('a database of a newer version is not opened', () => {
  const path = join(aFolder(), 'davit.db')
  fill(path)
  openDatabase(path, withRebuild()).$client.close()
  expect(() => openDatabase(path)).toThrow(/was written by a newer version of Davit/)
})

test('deleting a project deletes what belongs to it', () => {
  const path = join(aFolder(), 'davit.db')
  fill(path)
  const db = openDatabase(path)
  db.$client.run('DELETE FROM projects')
  expect(counts(db)).toEqual([0, 0, 0])
  db.$client.close()
})

test('a damaged database is named and left as it is', () => {
  const directory = aFolder()
  const path = join(directory, 'davit.db')
  fill(path)
  const sound = readFileSync(path)
  const wrongPage = Buffer.from(sound)
  wrongPage.fill(0xa5, 8 * 4096, 16 * 4096)
  for (const bytes of [
    Buffer.alloc(0),
    Buffer.from('this is no database, whatever its name says'),
    sound.subarray(0, sound.length - 8192),
    wrongPage,
  ]) {
    for (const file of [path, `${path}-wal`, `${path}-shm`]) rmSync(file, { force: true })
    writeFileSync(path, bytes)
    expect(() => openDatabase(path)).toThrow(`The database ${path} is damaged`)
    expect(readFileSync(path).equals(bytes)).toBe(true)
  }
})

test('a database that can’t be written is named', () => {
  const path = join(aFolder(), 'missing', 'logs.db')
  expect(() => openLogDatabase(path)).toThrow(`The database ${path} can’t be opened`)
})

test('an installation keeps its id, and opens under its own key only', () => {
  const db = openDatabase(':memory:')
  const secrets = new Secrets('the key of this installation, long')
  const id = openInstallation(db, secrets)
  expect(openInstallation(db, secrets)).toBe(id)
  const others = new Secrets('the key of another installation, long')
  expect(() => openInstallation(db, others)).toThrow(expect.objectContaining({ code: 'wrong_key' }))
})

test('new ids follow those that a database has, also after the clock was set back', () => {
  const path = join(aFolder(), 'davit.db')
  fill(path)
  const last = Bun.randomUUIDv7('hex', Date.now() + 3_600_000)
  const { $client } = openDatabase(path)
  $client.run(`UPDATE deployments SET id = '${last}'`)
  $client.close()
  openDatabase(path).$client.close()
  expect(newId() > last).toBe(true)
})
