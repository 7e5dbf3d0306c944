import type { Context } from 'hono'
import type { JSX } from 'hono/jsx/jsx-runtime'
import { AppError, Failure, invalidField, notFound } from '../platform/errors.ts'
import { clientOf } from '../web/client.ts'
import { factory } from '../web/factory.ts'
import { query } from '../web/query.ts'
import { userOf } from '../web/user-of.ts'
import { branchesQuery, repositoriesQuery, repositoryName, repositoryQuery } from './forms.ts'
import { openLookups } from './look-up.ts'
import type { LookupDeps } from './look-up.ts'
import type { Branches } from './look-up.ts'
import {
  BranchOptions,
  LookupRefused,
  OpenedByKey,
  RefOptions,
  RepositoryChoices,
  RepositoryFound,
  showLookup,
} from './lookup-views.tsx'
import type { Listing, Ref, Repository } from './providers/provider.ts'
import { findSource } from './store.ts'
import type { Source } from './store.ts'

export const gitLookupRoutes = (deps: LookupDeps) => {
  const lookups = openLookups(deps)

  return factory
    .createApp()
    .get('/api/git/repos', query(repositoriesQuery), async (c) => {
      const { sourceId, search } = c.req.valid('query')
      return listRepositories(c, own(c, sourceId), search)
    })
    .get('/api/git/branches', query(branchesQuery), async (c) => {
      const { sourceId, repositoryUrl: url, owner, repo, ...asked } = c.req.valid('query')
      const { signal } = c.req.raw
      if (sourceId === undefined) {
        if (url === undefined)
          throw invalidField('sourceId', 'must be a git source. Or give repository_url.')
        return showBranches(c, await lookups.branchesOfUrl({ url, userId: userOf(c).id, signal }))
      }
      const source = own(c, sourceId)
      const { repository = owner && repo && joined(owner, repo) } = asked
      if (!repository) throw invalidField('repository', 'must be owner/name.')
      return showBranches(c, await lookups.branches({ source, repository, signal }))
    })
    .get('/api/git/look', query(repositoryQuery), async (c) => {
      const { repositoryUrl: url = '', sourceId, repository } = c.req.valid('query')
      const { signal } = c.req.raw
      const source = sourceId !== undefined && url === '' ? own(c, sourceId) : null
      if (source && repository === undefined)
        throw invalidField('repository', 'must be owner/name.')
      if (isSsh(url) && clientOf(c) !== 'program') return showLook(c, <OpenedByKey />)
      try {
        const found = source
          ? await lookups.lookAt({ source, repository: repository!, signal })
          : await lookups.lookUp({ url, userId: userOf(c).id, signal })
        return showLook(c, <RepositoryFound {...found} />, found)
      } catch (error) {
        if (signal.aborted) return showLook(c, <></>) // the person is still typing
        const isRefusal = error instanceof AppError || error instanceof Failure
        if (!isRefusal || clientOf(c) === 'program') throw error
        return showLook(c, <LookupRefused url={url} error={error} />)
      }
    })
    .get('/api/git/sources/:sourceId/repos', query(repositoriesQuery.partial()), (c) =>
      listRepositories(c, own(c, c.req.param('sourceId')), c.req.valid('query').search),
    )
    .get('/api/git/sources/:sourceId/repos/:owner/:repo/branches', async (c) => {
      return showBranches(c, await lookups.branches(named(c)))
    })
    .get('/api/git/sources/:sourceId/repos/:owner/:repo/tags', async (c) => {
      return showTags(c, await lookups.tags(named(c)))
    })

  /** Checked before any request to the provider, so that no one uses someone else's source. */
  function own(c: Context, id: string): Source {
    return findSource(deps.db, { id, ownerId: userOf(c).id })
  }

  async function listRepositories(c: Context, source: Source, search = '') {
    const { items, truncated } = await lookups.repositories({ source, signal: c.req.raw.signal })
    const found = items.filter(({ fullName }) => contains(fullName, search))
    const list = { source, items: found.sort(byName), truncated }
    const view = () => <RepositoryChoices {...list} />
    return showLookup(c, 'Repositories', { view, json: () => listJson(list) })
  }

  /** The slashes of a GitLab group path arrive as %2F. */
  function named(c: Context) {
    const source = own(c, c.req.param('sourceId')!)
    const repository = joined(c.req.param('owner')!, c.req.param('repo')!)
    if (!repository) throw notFound('repository')
    return { source, repository, signal: c.req.raw.signal }
  }
}

const joined = (owner: string, repo: string) =>
  repositoryName.safeParse(`${owner}/${repo}`).data ?? null

/** No key opens it yet, except the project's own. */
const isSsh = (url: string) => /^(ssh:|[^@:/]+@[^:/]+:)/i.test(url)

const contains = (name: string, search: string) => name.toLowerCase().includes(search.toLowerCase())

const byName = (a: Repository, b: Repository) => a.fullName.localeCompare(b.fullName)

const listJson = <Item,>({ items, truncated }: Listing<Item>) => ({
  items,
  nextCursor: null,
  ...(truncated && { truncated }),
})

const showBranches = (c: Context, list: Branches) =>
  showOptions(c, 'Branches', {
    options: () => <BranchOptions {...list} />,
    json: () => ({ ...listJson(list), defaultBranch: list.defaultBranch }),
  })

const showTags = (c: Context, list: Listing<Ref>) =>
  showOptions(c, 'Tags', { options: () => <RefOptions {...list} />, json: () => listJson(list) })

/** For the form where the address is entered, which shows errors beside it. */
const showLook = (c: Context, view: JSX.Element, found?: object) =>
  showLookup(c, 'Repository', { view: () => view, json: () => found })

const showOptions = (
  c: Context,
  title: string,
  { options, json }: { options: () => JSX.Element; json: () => unknown },
) =>
  showLookup(c, title, {
    view: options,
    json,
    onPage: () => (
      <select aria-label={title} size={20}>
        {options()}
      </select>
    ),
  })
