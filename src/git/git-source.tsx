import { z } from 'zod'
import { gitSources } from '../db/schema.ts'
import { rowJson } from '../resources/json.ts'
import { resource } from '../resources/resource.ts'
import { Logo } from '../web/logo.tsx'
import { DialogButton } from '../web/row-actions.tsx'
import { component } from '../web/operation.ts'
import { checkSource } from './check-source.ts'
import { sourceForm } from './forms.ts'
import type { TokenOwner } from './providers/provider.ts'
import { providers } from './providers/registry.ts'
import { accessTo } from './source-access.ts'
import type { SourceDeps } from './source-access.ts'
import { SourceModal } from './source-modals.tsx'
import { deleteSource, listProjectsOfSource } from './store.ts'
import type { Source } from './store.ts'

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
  unique: { name: 'You already have a git source with this name. Choose another name.' },
  json,
  about: 'With a source you can pick repositories and branches from lists, including private ones.',
  empty: {
    title: 'No git sources',
    text: 'Connect an account at GitHub, GitLab, Gitea or Forgejo with an access token.',
  },
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
