import type { gitProviders } from '../db/schema.ts'
import type { Push } from './push.ts'
import type { RepositoryNames } from './repository-names.ts'

export type ProviderName = (typeof gitProviders)[number]

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
  /** The outermost members of the body that are read, and the one of them that names the repository. */
  members: string[]
  repositoryMember: string
  /** The headers of which one proves who sent it. */
  signatureHeaders: string[]
  /** The sender's own id of the delivery: it is the same when it is sent again. */
  deliveryId: (headers: Headers) => string | null
  /** Whether who sent this knows the project's secret. */
  isSignedWith: (secret: string, received: Received) => Promise<boolean>
  /** The names of the repository that it tells of, or null when it names none. */
  readNames: (payload: object) => RepositoryNames | null
  /** The push that the body describes, or null when it describes none. */
  readPush: (payload: object) => Push | null
}
