import type { ProviderName } from '../git/providers/registry.ts'
import type { Push } from './push.ts'

/** An untrusted delivery. */
export type Received = {
  headers: Headers
  /** What is signed: the raw bytes of the body, or of the JSON in its form. */
  body: Buffer
  /** Time of arrival, in milliseconds. */
  now: number
}

/** The media type of a form, whose field `payload` has the JSON. */
export const form = 'application/x-www-form-urlencoded'

/** What differs between the senders of webhooks; `receive` is the same for all. */
export type Provider = {
  name: ProviderName
  /** Media types of the body that it sends. */
  mediaTypes: string[]
  /** In a form it signs what the field says, not the bytes of the body. */
  signsField?: boolean
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
