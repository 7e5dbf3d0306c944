import type { Config } from '../config.ts'
import type { Db } from '../db/index.ts'
import type { Secrets } from '../platform/secrets.ts'
import type { Credential } from './keys.ts'
import type { Access } from './providers/provider.ts'
import { providers } from './providers/registry.ts'
import { openSourceToken } from './store.ts'
import type { Source } from './store.ts'

export type SourceDeps = { db: Db; secrets: Secrets; config: Config }

export const accessTo = (
  { db, secrets, config }: SourceDeps,
  { source, signal }: { source: Source; signal: AbortSignal },
): Access => ({
  ownerId: source.ownerId,
  baseUrl: source.baseUrl,
  token: openSourceToken(db, secrets, source.id),
  allow: config.allowHosts,
  signal,
})

/** The credentials are only sent to the source's own host. */
export const credentialOf = (
  { db, secrets }: { db: Db; secrets: Secrets },
  source: Source,
): Credential => ({
  baseUrl: source.baseUrl,
  ...providers[source.provider].credential(openSourceToken(db, secrets, source.id)),
})
