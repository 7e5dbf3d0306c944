import type { Context } from 'hono'
import { z } from 'zod'
import { gitSources } from '../db/schema.ts'
import { AppError } from '../platform/errors.ts'
import { resource } from '../resources/resource.ts'
import { clientOf } from '../web/client.ts'
import type { Env } from '../web/factory.ts'
import { Logo } from '../web/logo.tsx'
import { show } from '../web/respond.tsx'
import { DialogButton } from '../web/row-actions.tsx'
import { Ago } from '../web/times.tsx'
import { component, componentOf } from '../web/operation.ts'
import { userOf } from '../web/user-of.ts'
import { addSource } from './add-source.ts'
import { sourceForm, sourceRemovalQuery } from './forms.ts'
import type { TokenOwner } from './providers/provider.ts'
import { providers } from './providers/registry.ts'
import { accessTo } from './source-access.ts'
import type { SourceDeps } from './source-access.ts'
import { RemoveSourceModal, SourceModal } from './source-modals.tsx'
import { deleteSource, listProjectsOfSource } from './store.ts'
import type { Source } from './store.ts'

const path = '/settings/git'

const json = componentOf('Source', () => ({
  id: z.uuid(),
  provider: z.enum(['github', 'gitlab', 'gitea']),
  name: z.string(),
  baseUrl: z.url(),
  login: z.string(),
  createdAt: z.iso.datetime(),
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
  plural: 'your git sources',
  path,
  title: 'Git sources',
  part: 'Git',
  table: gitSources,
  owner: gitSources.ownerId,
  json,
  about: 'With a source you can pick repositories and branches from lists, including private ones.',
  empty: {
    title: 'No git sources',
    text: 'Connect an account at GitHub, GitLab, Gitea or Forgejo with an access token.',
  },
  row: ({ id, name, provider, login, baseUrl, createdAt }) => ({
    name,
    mark: <Logo of={provider} name={name} />,
    tags: [providers[provider].title],
    facts: [
      <bdi>{login}</bdi>,
      new URL(baseUrl).host,
      <>
        added <Ago at={createdAt} />
      </>,
    ],
    actions: (
      <DialogButton path={`${path}/${id}`} label={`Check the token of ${name}`}>
        Check
      </DialogButton>
    ),
    question: `Remove the git source ${name}?`,
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
    event: 'source.added',
    schema: checkedJson,
    submit: 'Check and add',
    form: ({ config }: SourceDeps) => sourceForm(config),
    async make(deps, c, input) {
      const asked = { ownerId: userOf(c).id, input, signal: c.req.raw.signal }
      const { source, owner } = await addSource(deps, asked)
      const dialog = () => <SourceModal source={source} owner={owner} />
      return { id: source.id, extra: checked(source, owner), dialog }
    },
    details: ({ provider, baseUrl }) => ({ provider, baseUrl }),
  },
  remove: {
    verb: 'Remove',
    note: '; one that projects use needs confirm or force',
    event: 'source.removed',
    query: sourceRemovalQuery,
    run(deps, c, source) {
      const used = listProjectsOfSource(deps.db, source.id)
      const { confirm, force } = sourceRemovalQuery.parse(c.req.query())
      if (used.length === 0 || confirm || force) return void deleteSource(deps.db, source.id)
      return askFirst(c, source, used)
    },
  },
})

/** `rights` is null when the provider doesn't report them. */
const checked = ({ login: before }: Source, { login, rights, missing }: TokenOwner) => ({
  login: login ?? before,
  rights,
  missing,
})

function askFirst(c: Context<Env>, source: Source, projects: { id: string; name: string }[]) {
  if (clientOf(c) !== 'program') {
    const page = () => <RemoveSourceModal source={source} projects={projects} />
    return show(c, { title: `Remove ${source.name}`, page }, 409)
  }
  const names = projects.map(({ name }) => name).join(', ')
  throw new AppError(
    'conflict',
    `The git source ${source.name} is used by ${names}. Use ?confirm=1 to remove it from them, too.`,
  )
}
