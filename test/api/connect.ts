import { linkToken } from '../../src/accounts/link-token.ts'
import { channels, passwordResets } from '../../src/db/schema.ts'
import type { TestApp } from '../support/app.ts'
import type { TestClient } from '../support/client.ts'
import type { Ids } from '../support/everything.ts'

type Step = { path?: string; client?: TestClient; body?: any }
type Call = (route: string, step?: Step) => Promise<any>

/** What an account is connected with: sources, registries, targets. */
export async function connect(call: Call, { git, ids }: { git: object; ids: Ids }) {
  const login = { username: 'ada', password: 'x' }
  await call('POST /settings/git', { body: { ...git, name: 'another' } })
  await call('PUT /settings/git/:id', { path: `/settings/git/${ids.source}`, body: { name: 'x' } })
  await call('DELETE /settings/git/:id', { path: `/settings/git/${ids.source}?confirm=1` })
  await call('POST /settings/registries', { body: { host: 'registry.example.org', ...login } })
  await call('PUT /settings/registries/:id', { body: { username: 'other', password: 'x' } })
  await call('DELETE /settings/registries/:id')
  const directory = { kind: 'directory', name: 'disk', path: '/mnt/backups' }
  await call('POST /settings/targets', { body: directory })
  await call('PUT /settings/targets/:id', { body: { bucket: 'others' } })
  await call('POST /settings/targets/:id/test')
  await call('DELETE /settings/targets/:id')
  const chat = { kind: 'browser', name: 'chat', events: ['unhealthy'] }
  await call('POST /settings/channels', { body: chat })
  await call('PUT /settings/channels/:id', { body: { quiet: '22:00-07:00' } })
  await call('POST /settings/channels/:id/test')
  await call('POST /settings/events/:id/send')
  await call('DELETE /settings/channels/:id')
}

/** A user who logs out and has forgotten the password gets the link of a mail that no one sends. */
export async function resetByMail(
  call: Call,
  { db, secrets }: TestApp,
  { client, user }: { client: TestClient; user: { id: string; email: string } },
) {
  db.insert(channels)
    .values({ kind: 'email', name: 'mail', ownerId: user.id, events: [], accountMail: true })
    .run()
  db.$client.query("UPDATE users SET role = 'admin' WHERE id = ?").run(user.id)
  await call('POST /auth/logout', { client })
  await call('POST /auth/forgotten', { client, body: { email: user.email } })
  const { id } = db.select().from(passwordResets).get()!
  const body = { reset: linkToken(secrets, id), password: 'another password of hers' }
  await call('POST /auth/password', { client, body })
}
