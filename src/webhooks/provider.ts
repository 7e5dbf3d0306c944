import type { ProviderName } from '../git/providers/registry.ts'
import type { Push } from './push.ts'

/** What was sent, before anything in it is believed. */
export type Received = {
  headers: Headers
  /** The bytes of the body as they came, which is what is signed. */
  body: Buffer
  /** Of the receiver, in milliseconds. */
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
  /** The headers of which one proves who sent it. */
  signatureHeaders: string[]
  /** The first of these headers is the sender's own id of the delivery: the same when it is sent again. */
  idHeaders: string[]
  /** Whether who sent this knows the project's secret. */
  isSignedWith: (secret: string, received: Received) => Promise<boolean>
  /** The member of the body that names the repository, and where in it the names are. */
  repository: { member: string; fullName: string; addresses: string[] }
  /** The outermost members of the body that are read. */
  members: string[]
  /** The push that the body describes, or null when it describes none. */
  readPush: (payload: object) => Push | null
}
