import type { z } from 'zod'
import type { Config } from '../config.ts'
import type { survey } from '../detection/detect.ts'
import { AppError, Failure, invalidField } from '../platform/errors.ts'
import { parse } from '../platform/parse.ts'
import { KeyedLock } from '../platform/semaphore.ts'
import { ShortCache } from '../platform/short-cache.ts'
import type { Git } from './git.ts'
import type { lookedAt } from './json.ts'
import type { Access, Listing, Provider, Ref, Repository } from './providers/provider.ts'
import { providers } from './providers/registry.ts'
import { parseRepositoryUrl } from './repository-url.ts'
import type { Tip } from './tip.ts'
import type { Credential } from './keys.ts'
import { accessTo, credentialOf } from './source-access.ts'
import type { SourceDeps } from './source-access.ts'
import type { Source } from './store.ts'

export type Branches = Listing<Ref> & { defaultBranch: string | null }

export type Looked = z.output<ReturnType<typeof lookedAt>>

export type LookupDeps = SourceDeps & { git: Git }
type LookupOptions = { source: Source; signal: AbortSignal }
type AskedOf = LookupOptions & { repository: string }
type UrlLookup = { url: string; userId: string; signal: AbortSignal; credential?: Credential }

/** The same number as for providers. */
const maxBranches = 20_000

/** Maximum of branch names that a form suggests. */
const mostNamed = 500

/** In milliseconds, for `git ls-remote`. Shorter than the time that a request may take. */
const timeoutMs = 10_000

/** The lists of the pickers. The same request within 30 seconds reaches the provider once. */
export function openLookups(deps: LookupDeps) {
  const cache = new ShortCache({ milliseconds: 30_000, max: 10 })
  return {
    repositories: (asked: LookupOptions): Promise<Listing<Repository>> =>
      ask('repositories', asked, (provider, access) => provider.listRepositories(access)),

    branches: ({ repository, ...asked }: AskedOf): Promise<Branches> =>
      ask(`branches of ${repository}`, asked, async (provider, access) => {
        const [list, defaultBranch] = await Promise.all([
          provider.listBranches(access, { repository }),
          provider.getDefaultBranch(access, { repository }),
        ])
        return { ...list, defaultBranch }
      }),

    tags: ({ repository, ...asked }: AskedOf): Promise<Listing<Ref>> =>
      ask(`tags of ${repository}`, asked, (provider, access) =>
        provider.listTags(access, { repository }),
      ),

    branchesOfUrl({ url: text, ...asked }: UrlLookup): Promise<Branches> {
      const url = readUrl(text, deps.config)
      const find = () => askGit(deps, { ...asked, url })
      return cache.remember(`url ${url}`, { signal: asked.signal, find })
    },

    lookUp({ url: text, ...asked }: UrlLookup): Promise<Looked> {
      const url = readUrl(text, deps.config)
      const find = () => lookUp(deps, { ...asked, url })
      return cache.remember(`look at ${url}`, { signal: asked.signal, find })
    },

    lookAt({ source, repository, signal }: AskedOf): Promise<Looked> {
      const url = providers[source.provider].cloneUrl(source.baseUrl, { repository })
      const credential = credentialOf(deps, source)
      const find = () => lookUp(deps, { url, credential, userId: source.ownerId, signal })
      return cache.remember(`look at ${repository} of ${source.id}`, { signal, find })
    },
  }

  function ask<Value>(
    what: string,
    { source, signal }: LookupOptions,
    find: (provider: Provider, access: Access) => Promise<Value>,
  ): Promise<Value> {
    return cache.remember(`${what} of ${source.id}`, {
      signal,
      find: () => find(providers[source.provider], accessTo(deps, { source, signal })),
    })
  }
}

function readUrl(text: string, config: Config): string {
  try {
    const options = { allowLocal: config.allowLocalRepos, allow: config.allowHosts }
    return parseRepositoryUrl(text, options).href
  } catch (error) {
    throw error instanceof AppError ? invalidField('repositoryUrl', error.message) : error
  }
}

/** Per user: each lookup is a git process, and a server may be slow. */
const turns = new KeyedLock(4)

async function askGit(
  { git }: LookupDeps,
  { url, userId, signal, credential }: UrlLookup,
): Promise<Branches> {
  const deadline = AbortSignal.timeout(timeoutMs)
  try {
    const both = AbortSignal.any([signal, deadline])
    const list = () => git.listBranches({ url, credential, signal: both })
    const { head, branches } = await turns.run(userId, both, list)
    const items = branches.slice(0, maxBranches)
    return { items, truncated: items.length < branches.length, defaultBranch: head }
  } catch (error) {
    if (deadline.aborted && !signal.aborted)
      throw new AppError(
        'bad_gateway',
        `The server of ${new URL(url).host} didn’t respond in time.`,
      )
    throw error instanceof Failure ? statusOfFailure(error) : error
  }
}

async function lookUp(deps: LookupDeps, lookup: UrlLookup): Promise<Looked> {
  const { url, userId, signal, credential } = lookup
  const both = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)])
  const optional = () => {
    signal.throwIfAborted() // an aborted lookup must not be cached as a result
    return null
  }
  const [{ items, defaultBranch }, tip] = await Promise.all([
    askGit(deps, lookup),
    deps.git.readTip({ url, credential, userId, signal: both }).catch(optional),
  ])
  const branches = items.slice(0, mostNamed).map(({ name }) => name)
  const found = tip?.files && (await surveyOf(tip.files, { userId, signal: both }).catch(optional))
  const plan = found?.plan
  const detected = plan ? { kind: plan.kind, reasons: plan.reasons } : null
  const workspaces = found?.workspaces ?? []
  const { dockerfiles = null, composeFiles = [] } = tip ?? {}
  return { defaultBranch, branches, dockerfiles, composeFiles, detected, workspaces }
}

function surveyOf(
  { paths, texts }: NonNullable<Tip['files']>,
  { userId, signal }: { userId: string; signal: AbortSignal },
) {
  const tooLong = () => new Error('a repository took too long to recognise')
  const question = { paths: paths.join('\0'), texts, settings: {}, buildVariables: [] }
  return parse<typeof survey>('survey', [question], { tooLong, owner: userId, signal })
}

/** The cause may be a wrong address, a missing repository, or a server that doesn't respond. */
export function statusOfFailure(failure: Failure) {
  const { code, message, hint } = failure
  if (['host_refused', 'host_unresolved', 'repository_refused'].includes(code))
    return invalidField('repositoryUrl', message)
  if (['authentication', 'repository_not_found'].includes(code))
    return new AppError('not_found', `${message} ${hint}`, { cause: failure })
  if (code === 'git_missing' || code === 'disk_full') return failure
  return new AppError('bad_gateway', `${message} ${hint}`, { cause: failure })
}
