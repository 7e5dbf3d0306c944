import type { z } from 'zod'
import type { Lookup } from '../../platform/hosts.ts'
import type { ref, repository } from '../json.ts'

export type Access = {
  /** Limits how many requests of a user run at once; omitted for a login. */
  ownerId?: string
  /** Without a trailing slash, such as `https://github.com`. */
  baseUrl: string
  token: string
  allow: string[]
  signal: AbortSignal
  /** For tests; `timeout` is in milliseconds. */
  lookup?: Lookup
  timeout?: number
}

export type Api = Pick<Access, 'ownerId' | 'allow' | 'signal' | 'lookup' | 'timeout'> & {
  title: string
  /** The host that people see. */
  host: string
  base: string
  headers: Record<string, string>
}

export type TokenOwner = {
  /** Null when the token may not read its owner. */
  login: string | null
  /** As reported by the provider; null when it doesn't report them. */
  rights: string[] | null
  /** The scopes that Davit needs and the token lacks, by the provider's names. */
  missing: string[]
}

export type Repository = z.output<ReturnType<typeof repository>>

export type Ref = z.output<ReturnType<typeof ref>>

/** All items of all pages, unless `truncated`. */
export type Listing<Item> = { items: Item[]; truncated: boolean }

export type Named = { repository: string }

export type Webhook = { id: string; url: string }

/** `pulls`: it also reports pull requests. */
export type NewHook = { url: string; secret: string; pulls: boolean }

export type CommitStatus = {
  commit: string
  /** Identifies the status among several of one commit, such as `davit/production`. */
  context: string
  state: 'pending' | 'success' | 'failure'
  description: string
  url: string
}

export type CheckState = 'pending' | 'success' | 'failure'

/** What a provider, or a system that reports to it, says of a commit. */
export type Check = { name: string; state: CheckState }

/**
 * A kind of git host. Every operation ends with the access's signal and within ten seconds. It throws a
 * ProviderError when there is no usable response, with Davit's own message, which has none of the provider's
 * text, no address, and no token. Only the hosts of the base URL and its API are ever contacted.
 */
export type Provider = {
  title: string
  /** The public host; null for software that is always self-hosted. */
  baseUrl: string | null
  open(access: Access): Api
  /** Returns missing scopes; throws when the token is refused. */
  whoIs(access: Access): Promise<TokenOwner>
  listRepositories(access: Access): Promise<Listing<Repository>>
  listBranches(access: Access, options: Named): Promise<Listing<Ref>>
  listTags(access: Access, options: Named): Promise<Listing<Ref>>
  /** Null in a repository without a commit. */
  getDefaultBranch(access: Access, options: Named): Promise<string | null>
  /** Built from the base URL, not from a response, so that the token isn't sent elsewhere. */
  cloneUrl(baseUrl: string, options: Named): string
  /** The user name and password with which git clones. */
  credential(token: string): { username: string; password: string }
  createWebhook(access: Access, options: Named & NewHook): Promise<Webhook>
  /** Null when no webhook posts to the URL. */
  findWebhook(access: Access, options: Named & { url: string }): Promise<Webhook | null>
  /** Succeeds when there is none. */
  deleteWebhook(access: Access, options: Named & { id: string }): Promise<void>
  setCommitStatus(access: Access, options: Named & CommitStatus): Promise<void>
  /** The newest of each name. */
  listChecks(access: Access, options: Named & { commit: string }): Promise<Check[]>
}
