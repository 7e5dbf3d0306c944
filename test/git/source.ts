import type { ProviderName } from '../../src/git/providers/registry.ts'
import type { TestClient } from '../support/client.ts'
import type { ProviderServer } from '../support/provider-server.ts'

export const token = 'tok_3v3ryB0dyShouldN0tS33'

const enough: Record<ProviderName, string[]> = {
  github: ['repo'],
  gitlab: ['api'],
  gitea: ['read:user', 'write:repository'],
}

/** Adds a source for a server, whose token is ada's there; answers its id. */
export async function addSource(user: TestClient, server: ProviderServer, name = 'work') {
  server.tokens.set(token, { login: 'ada', id: 42, scopes: enough[server.kind] })
  const { kind: provider, baseUrl } = server
  const added = await user.post('/settings/git', { provider, name, baseUrl, accessToken: token })
  if (added.status !== 201) throw new Error(added.text)
  return added.json.id as string
}
