import type { Database } from 'bun:sqlite'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { insertUser } from '../../src/accounts/store.ts'
import { parseConfig } from '../../src/config.ts'
import { openDatabase, openLogDatabase } from '../../src/db/index.ts'
import { lineRows, pack } from '../../src/logs/block.ts'
import { aSession } from '../support/session.ts'

export type Size = { projects: number; deployments: number; logLines: number }

export type Installation = { env: Record<string, string>; cookie: string }

/** A data directory of Davit's own making, with so much in it, and a session of the user who owns it all. */
export function makeInstallation(directory: string, size: Size): Installation {
  const env = {
    DAVIT_DATA_DIR: join(directory, 'data'),
    DAVIT_SECRET_KEY: 'k'.repeat(40),
    DAVIT_RATE_LIMIT: '1000000',
    DAVIT_RATE_BURST: '1000000',
  }
  const { dataDir } = parseConfig(env)
  mkdirSync(dataDir, { recursive: true })
  const db = openDatabase(join(dataDir, 'davit.db'))
  const logDb = openLogDatabase(join(dataDir, 'logs.db'))
  const { ownerId, cookie } = logIn(db)
  fillProjects(db.$client, { ...size, ownerId })
  fillLog(logDb.$client, size)
  for (const { $client } of [db, logDb]) {
    $client.run('PRAGMA wal_checkpoint(TRUNCATE)')
    $client.close()
  }
  return { env, cookie }
}

function logIn(db: ReturnType<typeof openDatabase>) {
  const ada = { email: 'ada@example.com', name: null, passwordHash: '', role: 'admin' } as const
  const ownerId = insertUser(db, ada).id
  return { ownerId, cookie: `svc_session=${aSession({ db }, ownerId)}` }
}

/** Ids are in the order of time, as those that Davit makes. */
const id = (kind: number, n: string) => `printf('01900000-000${kind}-7000-8000-%012x', ${n})`

const numbers = (count: number) =>
  `WITH RECURSIVE numbers(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${count - 1})`

/** Projects with one environment each, and deployments of them in turn. */
export function fillProjects(
  sqlite: Database,
  { projects, deployments, ownerId }: Omit<Size, 'logLines'> & { ownerId: string },
) {
  const now = Date.now()
  const steps = JSON.stringify([
    { name: 'cloning', startedAt: '2026-11-20T10:00:00Z', finishedAt: '2026-11-20T10:00:01Z' },
    { name: 'building', startedAt: '2026-11-20T10:00:01Z', finishedAt: '2026-11-20T10:00:31Z' },
    { name: 'deploying', startedAt: '2026-11-20T10:00:31Z', finishedAt: '2026-11-20T10:00:35Z' },
  ])
  sqlite.transaction(() => {
    sqlite.run(
      `INSERT INTO projects (id, owner_id, name, repository_url, webhook_secret, created_at)
       ${numbers(projects)}
       SELECT ${id(1, 'n')}, ?, 'project ' || n, 'https://git.example.com/team/app-' || n || '.git',
         'sealed', ? FROM numbers`,
      [ownerId, now],
    )
    sqlite.run(
      `INSERT INTO environments (id, project_id, name, host_port, created_at)
       ${numbers(projects)}
       SELECT ${id(2, 'n')}, ${id(1, 'n')}, 'production', 20000 + n, ? FROM numbers`,
      [now],
    )
    // in turn for each project; the last ones are stopped, as Davit finds no container of theirs
    sqlite.run(
      `INSERT INTO deployments (id, project_id, environment_id, number, status, "trigger", triggered_by,
         repository_url, branch, commit_hash, commit_author, commit_message, image, url,
         steps, created_at, finished_at)
       ${numbers(deployments)}
       SELECT ${id(3, 'n')}, ${id(1, `n % ${projects}`)}, ${id(2, `n % ${projects}`)},
         n / ${projects} + 1, iif(n >= ${deployments - projects}, 'stopped', 'superseded'), 'webhook', 'push to main',
         'https://git.example.com/team/app-' || n % ${projects} || '.git', 'main',
         printf('%040x', n), 'Ada', 'Change number ' || n, 'davit/image:' || n,
         'http://127.0.0.1:' || (20000 + n % ${projects}), ?, ?, ? FROM numbers`,
      [steps, now - 3_600_000, now - 3_560_000],
    )
    sqlite.run(
      `INSERT INTO workloads (id, environment_id, live_release_id)
       SELECT environment_id, environment_id, id FROM deployments WHERE status = 'stopped'`,
    )
    sqlite.run(
      `INSERT INTO releases (id, workload_id, created_at)
       SELECT id, environment_id, created_at FROM deployments WHERE triggered_by = 'push to main'`,
    )
    sqlite.run(
      `INSERT INTO instances (id, release_id, workload_id, component, container_id, state, created_at)
       SELECT id, id, environment_id, 'web', id, iif(status = 'stopped', status, 'removed'), created_at
       FROM deployments WHERE triggered_by = 'push to main'`,
    )
  })()
}

/** Lines of a block. */
const atOnce = 1000

function fillLog(sqlite: Database, { projects, deployments, logLines }: Size) {
  const each = Math.floor(logLines / deployments)
  const time = Date.now()
  const insert = sqlite.query(
    `INSERT INTO output_blocks (source_id, log_id, first, last, first_time, last_time, data)
     VALUES (?, ?, ?, ?, ?, ?, ?)`,
  )
  const ids = sqlite
    .query(
      `WITH RECURSIVE numbers(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${deployments - 1})
       SELECT ${id(2, `n % ${projects}`)}, ${id(3, 'n')} FROM numbers`,
    )
    .values() as [string, string][]
  sqlite.transaction(() => {
    for (const [at, log] of ids.entries())
      for (let from = 0; from < each; from += atOnce) {
        const lines = Array.from({ length: Math.min(atOnce, each - from) }, (_, n) => ({
          time,
          stream: 'stdout' as const,
          text: `${at * each + from + n} INFO request served path=/api/items status=200 dur=12ms`,
        }))
        const last = from + lines.length
        insert.run(...log, from + 1, last, time, time, pack(lineRows(lines)))
      }
  })()
}
