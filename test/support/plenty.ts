import type { Database } from 'bun:sqlite'
import { fillProjects } from '../bench/installation.ts'
import type { TestApp } from './app.ts'
import { seeded } from './seeded.ts'

/** More of each than a page shows at once. */
const count = 120

/** What must differ from one copy to the next; ids do. */
const copied: Record<string, Record<string, string>> = {
  api_tokens: { token_hash: `n || token_hash` },
  audit_events: {},
  deliveries: { delivery_id: `n || delivery_id` },
  deployments: { number: `1000 + n`, status: `'failed'` },
  domains: { host: `n || '-' || host` },
  environments: { name: `'a longer name of ' || n`, label: 'NULL', host_port: '50000 + n' },
  git_sources: { name: `name || n` },
  identities: { provider_user_id: `n || provider_user_id` },
  invites: { token_hash: `n || token_hash` },
  projects: { name: `'a copy of a project ' || n` },
  registries: { host: `n || '-' || host` },
  runs: {},
  services: { name: `name || ' ' || n`, host: `host || '-' || n` },
  sessions: { token_hash: `n || token_hash` },
  users: { email: `n || '.' || email` },
  variables: { key: `key || '_' || n` },
}

/** An installation with 100 projects more, and of everything that lists show more than fits on a page. */
export async function plentiful(t: TestApp) {
  const installation = await seeded(t)
  const { ids, root } = installation
  const sqlite = t.db.$client
  sqlite.run('UPDATE environments SET host_port = host_port + 20000') // which are random
  for (const [at, table] of Object.keys(copied).entries()) copy(sqlite, table, at)
  fillProjects(sqlite, { projects: 100, deployments: 3000, ownerId: root.user.id })
  const lines = Array.from({ length: 3000 }, (_, at) => ({
    ...{ time: Date.now() - 60_000 + at * 7, stream: 'stdout' as const },
    text: `${at} INFO request served path=/api/items/${at % 31} status=200 dur=${at % 17}ms`,
  }))
  t.logs.write({ sourceId: ids.environment, logId: '' }, lines)
  t.logs.write({ sourceId: ids.environment, logId: ids.deployment }, lines)
  return installation
}

/** Each is a copy of the oldest row. */
function copy(sqlite: Database, table: string, kind: number) {
  const columns = sqlite.query<{ name: string }, []>(`PRAGMA table_info(${table})`).all()
  const id = `printf('01a00000-00${kind.toString(16).padStart(2, '0')}-7000-8000-%012x', n)`
  const values = columns.map(({ name }) =>
    name === 'id' ? id : (copied[table]![name] ?? `"${name}"`),
  )
  sqlite.run(
    `WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${count})
     INSERT INTO ${table} (${columns.map(({ name }) => `"${name}"`)})
     SELECT ${values} FROM (SELECT * FROM ${table} ORDER BY id LIMIT 1), numbers`,
  )
}
