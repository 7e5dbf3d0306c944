import type { Deps } from '../deps.ts'
import type { Credential } from './keys.ts'
import type { Access } from './providers/provider.ts'
import { providers } from './providers/registry.ts'
import { openSourceToken } from './store.ts'
import type { Source } from './store.ts'

/** What the provider of a source is asked with. */
export const accessTo = (
  { db, secrets, config }: Pick<Deps, 'db' | 'secrets' | 'config'>,
  { source, signal }: { source: Source; signal: AbortSignal },
): Access => ({
  baseUrl: source.baseUrl,
  token: openSourceToken(db, secrets, source.id),
  allow: config.allowHosts,
  signal,
})

/** What git clones with from a source; it goes to the source's own host only. */
export const credentialOf = (
  { db, secrets }: Pick<Deps, 'db' | 'secrets'>,
  source: Source,
): Credential => ({
  baseUrl: source.baseUrl,
  ...providers[source.provider].credential(openSourceToken(db, secrets, source.id)),
})
