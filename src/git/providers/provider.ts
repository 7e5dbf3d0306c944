import type { Lookup } from '../../platform/hosts.ts'
import type { Api } from './ask.ts'

/** Where a provider is and as whom it is asked. */
export type Access = {
  /** Without a slash at its end, such as `https://github.com`. */
  baseUrl: string
  token: string
  /** Private hosts that may be asked: the setting DAVIT_ALLOW_HOSTS. */
  allow: string[]
  signal: AbortSignal
  /** For tests: another name server, and milliseconds instead of ten seconds. */
  lookup?: Lookup
  timeout?: number
}

export type TokenOwner = {
  /** Null when the token may not even tell whose it is. */
  login: string | null
  id: string | null
  /** The rights that the provider says the token has; null when it does not say. */
  rights: string[] | null
  /** The rights, by the provider's names, without which Davit can't list and clone. */
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

/** All there is, whatever the number of pages, unless the time did not suffice. */
export type Listing<Item> = { items: Item[]; truncated: boolean }

/** What is asked about one repository: its full name, as in a listing. */
export type Named = { repository: string }

export type Webhook = { id: string; url: string }

export type CommitStatus = {
  commit: string
  /** Tells several apart at one commit, such as `davit/production`. */
  context: string
  state: 'pending' | 'success' | 'failure'
  description: string
  /** Where to read more. */
  url: string
}

/**
 * A kind of git host. Every operation ends with the access's signal and within ten seconds, and
 * throws a ProviderError when there is no answer to use: in words of ours, without a word that the
 * provider said, an address, or the token. Only the base URL's host is ever asked, or its API's.
 */
export type Provider = {
  title: string
  /** The one that is hosted for everybody; null where each is somebody's own. */
  baseUrl: string | null
  /** Its API, for questions that are not among these. */
  open(access: Access): Api
  /** A right that is missing is told, not thrown; a token that is refused is thrown. */
  whoIs(access: Access): Promise<TokenOwner>
  /** All that the token's owner has a part in. */
  listRepositories(access: Access): Promise<Listing<Repository>>
  listBranches(access: Access, options: Named): Promise<Listing<Ref>>
  listTags(access: Access, options: Named): Promise<Listing<Ref>>
  /** Null in a repository without a commit. */
  getDefaultBranch(access: Access, options: Named): Promise<string | null>
  /** Made from the base URL, so that a token meant for it goes nowhere else. */
  cloneUrl(baseUrl: string, options: Named): string
  /** What git sends when it clones with the token. */
  credential(token: string): { username: string; password: string }
  /** Registers a webhook for pushes whose deliveries are signed with the secret. */
  createWebhook(access: Access, options: Named & { url: string; secret: string }): Promise<Webhook>
  /** The webhook that posts to the URL, or null. */
  findWebhook(access: Access, options: Named & { url: string }): Promise<Webhook | null>
  /** One that is gone already is fine. */
  deleteWebhook(access: Access, options: Named & { id: string }): Promise<void>
  setCommitStatus(access: Access, options: Named & CommitStatus): Promise<void>
}
