import type { ProviderName } from '../git/providers/registry.ts'
import type { Push } from './push.ts'

/** An untrusted delivery. */
export type Received = {
  headers: Headers
  /** The raw bytes of the body, which are what is signed. */
  body: Buffer
  /** Time of arrival, in milliseconds. */
  now: number
}

/** What differs between the senders of webhooks; `receive` is the same for all. */
export type Provider = {
  name: ProviderName
  /** Media types of the body that it sends. */
  mediaTypes: string[]
  /** The header that names the event, and its values for a push to a branch or a tag. */
  eventHeader: string
  pushEvents: string[]
  /** The headers of which one has the signature. */
  signatureHeaders: string[]
  /** The first of these headers is the sender's own id of the delivery: the same when it is sent again. */
  idHeaders: string[]
  /** Whether the sender knows the project's secret. */
  isSignedWith: (secret: string, received: Received) => Promise<boolean>
  /** The member of the body with the repository, and the fields with its names. */
  repository: { member: string; fullName: string; addresses: string[] }
  /** The top-level members of the body that are read. */
  members: string[]
  /** The push that the body describes, or null. */
  readPush: (payload: object) => Push | null
}
