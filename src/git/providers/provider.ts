import type { Lookup } from '../../platform/hosts.ts'
import type { Api } from './ask.ts'

/** The address of a provider and the token to use. */
export type Access = {
  /** The user whose requests these are, of which only some run at once; none for a login. */
  ownerId?: string
  /** Without a slash at its end, such as `https://github.com`. */
  baseUrl: string
  token: string
  /** Private hosts that are allowed: the setting DAVIT_ALLOW_HOSTS. */
  allow: string[]
  signal: AbortSignal
  /** For tests: another name server, and milliseconds instead of ten seconds. */
  lookup?: Lookup
  timeout?: number
}

export type TokenOwner = {
  /** Null when the token may not even read its owner. */
  login: string | null
  id: string | null
  /** The scopes of the token according to the provider; null when it doesn't say. */
  rights: string[] | null
  /** The scopes, by the provider's names, without which Davit can't list and clone. */
  missing: string[]
}

export type Repository = {
  /** `owner/name`; at GitLab there may be groups within groups before the name. */
  fullName: string
  cloneUrl: string
  /** Null in a repository without a commit. */
  defaultBranch: string | null
  private: boolean
}

export type Ref = { name: string; commit: string }

/** All items of all pages, unless the time was up. */
export type Listing<Item> = { items: Item[]; truncated: boolean }

/** A repository by its full name, as in a listing. */
export type Named = { repository: string }

export type Webhook = { id: string; url: string }

export type CommitStatus = {
  commit: string
  /** Identifies the status among several of one commit, such as `davit/production`. */
  context: string
  state: 'pending' | 'success' | 'failure'
  description: string
  /** The link for details. */
  url: string
}

/**
 * A kind of git host. Every operation ends with the access's signal and within ten seconds, and
 * throws a ProviderError when there is no usable response: with our own message, without the provider's
 * text, an address, or the token. Only the base URL's host, or its API's, is ever contacted.
 */
export type Provider = {
  title: string
  /** The public host; null when it is always self-hosted. */
  baseUrl: string | null
  /** Its API, for other calls. */
  open(access: Access): Api
  /** A missing scope is returned, not thrown; a refused token is thrown. */
  whoIs(access: Access): Promise<TokenOwner>
  /** All repositories that the token's owner has access to. */
  listRepositories(access: Access): Promise<Listing<Repository>>
  listBranches(access: Access, options: Named): Promise<Listing<Ref>>
  listTags(access: Access, options: Named): Promise<Listing<Ref>>
  /** Null in a repository without a commit. */
  getDefaultBranch(access: Access, options: Named): Promise<string | null>
  /** Built from the base URL, so that its token isn't sent elsewhere. */
  cloneUrl(baseUrl: string, options: Named): string
  /** What git sends when it clones with the token. */
  credential(token: string): { username: string; password: string }
  /** Registers a webhook for pushes whose deliveries are signed with the secret. */
  createWebhook(access: Access, options: Named & { url: string; secret: string }): Promise<Webhook>
  /** The webhook that posts to the URL, or null. */
  findWebhook(access: Access, options: Named & { url: string }): Promise<Webhook | null>
  /** A missing one is fine. */
  deleteWebhook(access: Access, options: Named & { id: string }): Promise<void>
  setCommitStatus(access: Access, options: Named & CommitStatus): Promise<void>
}
