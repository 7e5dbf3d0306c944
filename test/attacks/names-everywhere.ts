import type { TestApp } from '../support/app.ts'
import type { TestClient } from '../support/client.ts'
import { everything } from '../support/everything.ts'
import type { Ids } from '../support/everything.ts'

/** Columns that people, providers and repositories fill as they like. */
const freeColumns: Record<string, string[]> = {
  users: ['name'],
  sessions: ['user_agent'],
  api_tokens: ['name'],
  identities: ['login'],
  git_sources: ['name', 'login'],
  registries: ['username'],
  audit_events: ['actor', 'object_name'],
  projects: ['name', 'branch', 'repository', 'repository_url'],
  environments: ['branch'],
  previews: ['title'],
  variables: ['value'],
  deployments: [
    'triggered_by',
    'branch',
    'commit_author',
    'commit_message',
    'error_message',
    'error_hint',
  ],
  deliveries: ['delivery_id', 'event', 'ref', 'commit_message', 'reason'],
  services: ['name', 'error_message', 'error_hint'],
  schedules: ['name'],
  freezes: ['reason'],
  backups: ['subject_name', 'started_by', 'error_message', 'error_hint'],
  drains: ['name'],
}

/** Those whose form lets no such text in. */
const checkedColumns: Record<string, string[]> = {
  users: ['email'],
  identities: ['base_url'],
  registries: ['host'],
  audit_events: ['address', 'object_kind'],
  projects: ['dockerfile_path', 'context_dir', 'compose_file', 'compose_service'],
  environments: ['name', 'health_path'],
  domains: ['host', 'path', 'redirect_to'],
  certificates: ['error_message', 'error_hint'],
  variables: ['key'],
  deployments: ['image', 'error_step'],
  services: ['version'],
  schedules: ['schedule', 'zone', 'file'],
  drains: ['host', 'url', 'username', 'endpoint', 'bucket', 'region', 'prefix', 'access_key'],
}

const lists: Record<string, string[]> = {
  projects: ['watch_paths'],
  environments: ['volumes'],
  domains: ['allow_ips'],
}

/** Someone of whom everything has this text for a name that may have any, in each row another one. */
export async function freelyNamed(t: TestApp, client: TestClient, text: string): Promise<Ids> {
  const ids = await everything(t, client)
  setAll(t, freeColumns, text)
  return ids
}

/**
 * Someone of whom everything has this text for a name, past all checks: what was stored by another
 * version, or is told by a provider, a repository or the engine.
 */
export async function namedEverywhere(t: TestApp, client: TestClient, text: string): Promise<Ids> {
  const ids = await freelyNamed(t, client, text)
  setAll(t, checkedColumns, text)
  const set = (table: string, column: string, value: string) =>
    t.db.$client.run(`UPDATE ${table} SET ${column} = ?`, [value])
  for (const [table, columns] of Object.entries(lists))
    for (const column of columns) set(table, column, JSON.stringify([text]))
  set('projects', 'build_args', JSON.stringify({ [text]: text }))
  set('domains', 'headers', JSON.stringify({ [text]: text }))
  set('domains', 'accounts', JSON.stringify([{ username: text, hash: text }]))
  set('audit_events', 'details', JSON.stringify({ [text]: text }))
  const step = { name: text, startedAt: new Date(), finishedAt: new Date() }
  set('deployments', 'steps', JSON.stringify([step]))
  const address = `javascript:alert(1)//${text}`
  set('projects', 'repository_url', address)
  set('deployments', 'repository_url', address)
  set('deployments', 'url', address)
  set('git_sources', 'base_url', address)
  const log = { sourceId: ids.environment, logId: ids.deployment }
  t.logs.write(log, [{ time: 1, stream: 'stdout', text }])
  return ids
}

function setAll(t: TestApp, table: Record<string, string[]>, text: string) {
  for (const [name, columns] of Object.entries(table))
    for (const column of columns)
      t.db.$client.run(`UPDATE ${name} SET ${column} = ? || ' ' || substr(rowid, -3)`, [text])
}
