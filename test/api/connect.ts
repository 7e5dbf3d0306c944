import type { Ids } from '../support/everything.ts'

type Call = (route: string, step?: { path?: string; body?: any }) => Promise<any>

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
