import type { Config } from '../config.ts'
import { AppError, Failure, invalidField } from '../platform/errors.ts'
import type { Git } from './git.ts'
import type { Access, Listing, Provider, Ref, Repository } from './providers/provider.ts'
import { providers } from './providers/registry.ts'
import { parseRepositoryUrl } from './repository-url.ts'
import { accessTo } from './source-access.ts'
import type { SourceDeps } from './source-access.ts'
import type { Source } from './store.ts'

export type Branches = Listing<Ref> & { defaultBranch: string | null }

export type LookupDeps = SourceDeps & { git: Git }
type Asked = { source: Source; signal: AbortSignal }
type AskedOf = Asked & { repository: string }

/** As many as a provider is asked for. */
const mostBranches = 20_000

/** Milliseconds for `git ls-remote`: less than a request may take. */
const patience = 10_000

/** Lists for the pickers; the same question within 30 seconds is asked of the provider once. */
export function openLookups(deps: LookupDeps) {
  const cache = new ShortCache({ milliseconds: 30_000, most: 10 })
  return {
    repositories: (asked: Asked): Promise<Listing<Repository>> =>
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

    branchesOfUrl({ url: text, signal }: { url: string; signal: AbortSignal }): Promise<Branches> {
      const url = readUrl(text, deps.config)
      return cache.remember(`url ${url}`, { signal, find: () => askGit(deps, { url, signal }) })
    },
  }

  /** Asks the provider of a source. */
  function ask<Value>(
    what: string,
    { source, signal }: Asked,
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

async function askGit(
  { git }: LookupDeps,
  { url, signal }: { url: string; signal: AbortSignal },
): Promise<Branches> {
  const deadline = AbortSignal.timeout(patience)
  try {
    const both = AbortSignal.any([signal, deadline])
    const { head, branches } = await git.listBranches({ url, signal: both })
    const items = branches.slice(0, mostBranches)
    return { items, truncated: items.length < branches.length, defaultBranch: head }
  } catch (error) {
    if (deadline.aborted && !signal.aborted)
      throw new AppError(
        'bad_gateway',
        `The server of ${new URL(url).host} did not answer in time.`,
      )
    throw error instanceof Failure ? statusOfFailure(error) : error
  }
}

/** The address is at fault, or the repository is not there, or its server does not answer. */
function statusOfFailure(failure: Failure) {
  const { code, message, hint } = failure
  if (['host_refused', 'host_unresolved', 'repository_refused'].includes(code))
    return invalidField('repositoryUrl', message)
  if (['authentication', 'repository_not_found'].includes(code))
    return new AppError('not_found', `${message} ${hint}`, { cause: failure })
  if (code === 'git_missing' || code === 'disk_full') return failure
  return new AppError('bad_gateway', `${message} ${hint}`, { cause: failure })
}

type Question<Value> = { find: () => Promise<Value>; signal: AbortSignal }
type Answer = { value: Promise<unknown>; signal: AbortSignal; until: number }

/** Remembers answers for a while, the newest so many of them. */
export class ShortCache {
  readonly #answers = new Map<string, Answer>()

  constructor(readonly options: { milliseconds: number; most: number }) {}

  /** What was asked under the key within that time, else what is found now. A fault is not kept. */
  async remember<Value>(key: string, question: Question<Value>): Promise<Value> {
    const known = this.#answers.get(key)
    if (!known || known.until <= performance.now()) return this.#ask(key, question)
    try {
      return (await known.value) as Value
    } catch (error) {
      // Whoever asked first has gone away: that is nothing to those who wait with them.
      if (known.signal.aborted) return this.remember(key, question)
      throw error
    }
  }

  #ask<Value>(key: string, { find, signal }: Question<Value>): Promise<Value> {
    const value = find()
    const answer = { value, signal, until: performance.now() + this.options.milliseconds }
    this.#answers.delete(key)
    this.#answers.set(key, answer)
    value.catch(() => {
      if (this.#answers.get(key) === answer) this.#answers.delete(key)
    })
    if (this.#answers.size > this.options.most) {
      this.#answers.delete(this.#answers.keys().next().value!)
    }
    return value
  }
}
