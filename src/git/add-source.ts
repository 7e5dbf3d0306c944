import type { z } from 'zod'
import { AppError, invalidField } from '../platform/errors.ts'
import { refuseMore } from '../platform/limits.ts'
import type { sourceForm } from './forms.ts'
import type { Access, Provider, TokenOwner } from './providers/provider.ts'
import { ProviderError } from './providers/provider-error.ts'
import { stranger } from './providers/refusals.ts'
import { providers } from './providers/registry.ts'
import type { SourceDeps } from './source-access.ts'
import { countSources, insertSource } from './store.ts'
import type { Source } from './store.ts'

type NewSource = {
  ownerId: string
  input: z.output<ReturnType<typeof sourceForm>>
  signal: AbortSignal
}

/** Asks the provider about the token, and stores it if it has the scopes that Davit needs. */
export async function addSource(
  { db, secrets, config }: SourceDeps,
  { ownerId, input, signal }: NewSource,
): Promise<{ source: Source; owner: TokenOwner }> {
  const { provider: kind, name, baseUrl, accessToken: token } = input
  const provider = providers[kind]
  const owner = await askOwner(provider, {
    ...{ ownerId, baseUrl, token, signal },
    allow: config.allowHosts,
  })
  const { login, missing } = owner
  if (missing.length > 0 || login === null) throw tooWeak(provider, owner)
  refuseMore('sources', countSources(db, ownerId))
  const source = insertSource(db, secrets, { ownerId, provider: kind, name, baseUrl, login, token })
  return { source, owner }
}

/** A refusal caused by a field is reported at that field. */
async function askOwner(provider: Provider, access: Access): Promise<TokenOwner> {
  try {
    return await provider.whoIs(access)
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error
    if (error.reason === 'token' || error.reason === 'rights')
      throw invalidField('accessToken', error.message)
    if (error.reason === 'host' || error.reason === 'stranger')
      throw invalidField('baseUrl', error.message)
    if (error.reason === 'down')
      throw new AppError('bad_gateway', error.message, {
        cause: error,
        fields: [{ field: 'baseUrl', message: error.message }],
      })
    if (error.reason !== 'missing') throw error
    const host = new URL(access.baseUrl).host
    throw invalidField('baseUrl', stranger({ title: provider.title, host }).message)
  }
}

function tooWeak(provider: Provider, { login, missing }: TokenOwner) {
  const whose = login === null ? 'The token' : `The token of ${login}`
  const [rights, them] = missing.length === 1 ? ['the scope', 'it'] : ['the scopes', 'them']
  return invalidField(
    'accessToken',
    `${whose} lacks ${rights} ${missing.join(' and ')}. Create one at ${provider.title} that has ${them}.`,
  )
}
