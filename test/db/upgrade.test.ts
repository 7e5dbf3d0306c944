import { expect, test } from 'bun:test'
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { insertUser } from '../../src/accounts/store.ts'
import { openDatabase, openLogDatabase } from '../../src/db/index.ts'
import { openInstallation } from '../../src/db/installation.ts'
import { insertDeployment } from '../../src/deployments/store.ts'
import { listEnvironments } from '../../src/environments/store.ts'
import { insertProject } from '../../src/projects/store.ts'
import { root } from '../../src/platform/root.ts'
import { until } from './migrations.ts'
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

test('work that an earlier version has left waits or runs as jobs', () => {
  const folder = until('0013_addresses')
  const path = join(aFolder(), 'davit.db')
  const old = openDatabase(path, folder).$client
  old.run("INSERT INTO users (id, email, role, created_at) VALUES ('ada', 'a', 'member', 0)")
  old.run(`INSERT INTO projects (id, owner_id, name, repository_url, webhook_secret, created_at)
    VALUES ('p', 'ada', 'site', 'x', 'x', 0)`)
  const left = ['pending', 'building', 'deploying', 'failed']
  for (const [at, status] of left.entries()) {
    old.run(`INSERT INTO environments (id, project_id, name, host_port, created_at)
      VALUES ('e${at}', 'p', 'e${at}', ${at}, 0)`)
    old.run(`INSERT INTO deployments (id, project_id, environment_id, status, "trigger", triggered_by,
      repository_url, image, attempt, cancel_requested, created_at)
      VALUES ('d${at}', 'p', 'e${at}', '${status}', 'manual', 'ada', 'x',
        ${status === 'deploying' ? "'i'" : 'NULL'}, ${at}, ${at === 1}, 0)`)
  }
  for (const [id, status, before] of [
    ['s0', 'pulling', 'NULL'],
    ['s1', 'starting', "'sealed'"],
    ['s2', 'running', 'NULL'],
  ])
    old.run(`INSERT INTO services (id, owner_id, name, template, version, status, compose, "values",
      before, created_at) VALUES ('${id}', 'ada', '${id}', 't', '', '${status}', '', '', ${before}, 0)`)
  old.close()

  const db = openDatabase(path)
  const jobs = db.$client.query(
    'SELECT kind, subject_id, owner_id, status, slot, attempt, cancel_requested, input FROM jobs ORDER BY subject_id',
  )
  expect(jobs.values()).toEqual([
    ['deploy', 'e0', 'ada', 'waiting', 'build', 0, 0, null],
    ['deploy', 'e1', 'ada', 'running', 'build', 1, 1, null],
    ['deploy', 'e2', 'ada', 'running', null, 2, 0, null],
    ['start', 's0', 'ada', 'running', 'service', 1, 0, null],
    ['change', 's1', 'ada', 'running', 'service', 1, 0, 'before:sealed'],
  ])
  // a log of a job has its id; what the containers of a service write has that of the service
  const rows = (query: string) => db.$client.query(query).values()
  expect(rows('SELECT id FROM jobs WHERE id = subject_id')).toEqual([])
  expect(rows("SELECT id FROM jobs WHERE kind = 'deploy' ORDER BY id")).toEqual([
    ['d0'],
    ['d1'],
    ['d2'],
  ])
  db.$client.close()
})

test('an upgrade knows the containers that run, and which deployment was being switched to', () => {
  const path = join(aFolder(), 'davit.db')
  const old = openDatabase(path, until('0014_jobs')).$client
  old.run(
    "INSERT INTO users (id, email, password_hash, role, created_at) VALUES ('u', 'a', '', 'member', 0)",
  )
  old.run(
    "INSERT INTO projects (id, owner_id, name, repository_url, webhook_secret, created_at) VALUES ('p', 'u', 'p', '', '', 0)",
  )
  for (const [at, id] of ['running', 'stopped', 'switching', 'idle'].entries())
    old.run(
      'INSERT INTO environments (id, project_id, name, host_port, created_at) VALUES (?, ?, ?, ?, 0)',
      [id, 'p', id, at],
    )
  const insert = (environment: string, status: string, container: string | null) =>
    old.run(
      `INSERT INTO deployments (id, project_id, environment_id, status, "trigger", triggered_by, repository_url, container_id, created_at)
       VALUES (?, 'p', ?, ?, 'manual', 'a', '', ?, 0)`,
      [`${environment} ${status}`, environment, status, container],
    )
  insert('running', 'superseded', 'c1')
  insert('running', 'running', 'c2')
  insert('running', 'pending', null)
  insert('stopped', 'stopped', 'c3')
  insert('switching', 'running', 'c4')
  insert('switching', 'deploying', 'c5')
  insert('idle', 'failed', null)
  old.run(
    "INSERT INTO services (id, owner_id, name, template, version, compose, \"values\", created_at) VALUES ('s', 'u', 's', 't', '1', '', '', 0)",
  )
  old.run('PRAGMA wal_checkpoint(TRUNCATE)')
  old.close()

  const { $client } = openDatabase(path)
  const rows = (query: string) => $client.query(query).values()
  expect(rows('SELECT id, live_release_id, next_release_id FROM workloads ORDER BY id')).toEqual([
    ['running', 'running running', null],
    ['s', 's', null],
    ['stopped', 'stopped stopped', null],
    ['switching', 'switching running', 'switching deploying'],
  ])
  expect(
    rows('SELECT container_id, release_id, component, state FROM instances ORDER BY 1'),
  ).toEqual([
    ['c1', 'running superseded', 'web', 'removed'],
    ['c2', 'running running', 'web', 'live'],
    ['c3', 'stopped stopped', 'web', 'stopped'],
    ['c4', 'switching running', 'web', 'live'],
    ['c5', 'switching deploying', 'web', 'starting'],
  ])
  $client.close()
})

test('an upgrade keeps the addresses that containers hold, and frees those of removed ones', () => {
  const path = join(aFolder(), 'davit.db')
  const old = openDatabase(path, until('0018_procfile')).$client
  old.run("INSERT INTO workloads (id) VALUES ('w')")
  old.run("INSERT INTO releases (id, workload_id, created_at) VALUES ('r', 'w', 0)")
  for (const [id, state] of Object.entries({ a: 'removed', b: 'live', c: 'stopped' }))
    old.run(`INSERT INTO instances (id, release_id, workload_id, component, network, address, state,
      created_at) VALUES ('${id}', 'r', 'w', 'web', ${id === 'c' ? 'NULL, NULL' : "'n', '10.1.0.9'"}, '${state}', 0)`)
  old.close()
  const { $client } = openDatabase(path)
  const rows = $client.query('SELECT instance_id, network, address, held FROM endpoints ORDER BY 1')
  expect(rows.values()).toEqual([
    ['a', 'n', '10.1.0.9', 0],
    ['b', 'n', '10.1.0.9', 1],
  ])
  $client.close()
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
