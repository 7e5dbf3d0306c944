import type { z } from 'zod'
import { AppError, invalidField } from '../platform/errors.ts'
import type { sourceForm } from './forms.ts'
import type { Access, Provider, TokenOwner } from './providers/provider.ts'
import { ProviderError } from './providers/provider-error.ts'
import { stranger } from './providers/refusals.ts'
import { providers } from './providers/registry.ts'
import type { SourceDeps } from './source-access.ts'

/** Asks the provider whose token it is. Throws unless it has the scopes that Davit needs. */
export async function checkSource(
  { config }: SourceDeps,
  { provider: kind, baseUrl, accessToken: token }: z.output<ReturnType<typeof sourceForm>>,
  { ownerId, signal }: { ownerId: string; signal: AbortSignal },
): Promise<TokenOwner & { login: string }> {
  const provider = providers[kind]
  const access = { ownerId, baseUrl, token, signal, allow: config.allowHosts }
  const owner = await askOwner(provider, access)
  const { login, missing } = owner
  if (missing.length > 0 || login === null) throw tooWeak(provider, owner)
  return { ...owner, login }
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
