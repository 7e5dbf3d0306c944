import { z } from 'zod'
import { gitSources } from '../db/schema.ts'
import { rowJson } from '../resources/json.ts'
import { resource } from '../resources/resource.ts'
import { Logo } from '../web/logo.tsx'
import { DialogButton } from '../web/row-actions.tsx'
import { component } from '../web/operation.ts'
import { sourceForm } from './forms.ts'
import type { TokenOwner, Access, Provider } from './providers/provider.ts'
import { providers } from './providers/registry.ts'
import { accessTo } from './source-access.ts'
import type { SourceDeps } from './source-access.ts'
import { deleteSource, listProjectsOfSource } from './store.ts'
import type { Source } from './store.ts'
import { AppError, invalidField } from '../platform/errors.ts'
import { ProviderError } from './providers/provider-error.ts'
import { stranger } from './providers/refusals.ts'
import { InfoModal } from '../web/dialog.tsx'

const path = '/settings/git'

const json = rowJson('Source', gitSources, ['provider', 'name', 'login'], () => ({
  baseUrl: z.url(),
}))

/** Adds what the provider currently reports about the token. */
const checkedJson = component('CheckedSource', () =>
  json().extend({
    rights: z.array(z.string()).nullable(),
    missing: z.array(z.string()),
  }),
)

/** A token can be stored, but is never returned. */
export const gitSource = resource({
  kind: 'source',
  noun: 'git source',
  path,
  title: 'Git sources',
  part: 'Git',
  table: gitSources,
  owner: gitSources.ownerId,
  most: 'sources',
  sealed: ['accessToken'],
  sentTo: ['provider', 'baseUrl'],
  json,
  about: 'With a source you can pick repositories and branches from lists, including private ones.',
  empty: 'Connect an account at GitHub, GitLab, Gitea or Forgejo with an access token.',
  row: ({ id, name, provider, login, baseUrl }) => ({
    mark: <Logo of={provider} name={name} />,
    tags: [providers[provider].title],
    facts: [<bdi>{login}</bdi>, new URL(baseUrl).host],
    actions: (
      <DialogButton path={`${path}/${id}`} label={`Check the token of ${name}`}>
        Check
      </DialogButton>
    ),
  }),
  item: {
    schema: checkedJson,
    note: ', with its current scopes',
    async view(deps, c, source) {
      const access = accessTo(deps, { source, signal: c.req.raw.signal })
      const owner = await providers[source.provider].whoIs(access)
      return {
        title: source.name,
        page: () => <SourceModal source={source} owner={owner} />,
        extra: checked(source, owner),
      }
    },
  },
  create: {
    verb: 'Add',
    note: '; its scopes are checked with the provider',
    schema: checkedJson,
    submit: 'Check and add',
    form: ({ config }: SourceDeps) => sourceForm(config),
    async check(deps, input, by) {
      const owner = await checkSource(deps, input, by)
      const { login } = owner
      return {
        columns: { login },
        extra: checked({ login }, owner),
        dialog: (source) => <SourceModal source={source} owner={owner} />,
      }
    },
    details: ({ provider, baseUrl }) => ({ provider, baseUrl }),
  },
  change: { submit: 'Check and save' },
  remove: {
    verb: 'Remove',
    note: '; one that projects use needs confirm or force',
    run: ({ db }, { id }) => deleteSource(db, id),
    users: {
      list: ({ db }, { id }) =>
        listProjectsOfSource(db, id).map((project) => ({
          href: `/projects/${project.id}`,
          name: project.name,
        })),
      without:
        'Without it these keep their repository’s address, but can no longer read it where it is private:',
    },
  },
})

/** `rights` is null when the provider doesn't report them. */
const checked = (
  { login: before }: Pick<Source, 'login'>,
  { login, rights, missing }: TokenOwner,
) => ({
  login: login ?? before,
  rights,
  missing,
})

/** Asks the provider whose token it is. Throws unless it has the scopes that Davit needs. */
async function checkSource(
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

const sources = { href: '/settings/git', name: 'Git sources' }

/** The owner and scopes are as just reported by the provider. */
const SourceModal = ({ source, owner }: { source: Source; owner: TokenOwner }) => (
  <InfoModal title={<bdi>{source.name}</bdi>} from={sources}>
    {owner.missing.length > 0 ? (
      <div class="alert" data-variant="destructive" role="alert">
        <strong>The token lacks: {owner.missing.join(', ')}.</strong>
      </div>
    ) : (
      <p role="status">
        {providers[source.provider].title} accepts the token. It belongs to{' '}
        <strong>
          <bdi>{owner.login ?? source.login}</bdi>
        </strong>
        .
      </p>
    )}
    <p class="muted">
      {owner.rights ? (
        <>
          Its scopes:{' '}
          {owner.rights.map((right) => (
            <span class="tag">{right}</span>
          ))}
        </>
      ) : (
        'It can list and clone. Whether it can change webhooks is only known when it is used.'
      )}
    </p>
  </InfoModal>
)
