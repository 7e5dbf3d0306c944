import type { ProviderName } from '../git/providers/registry.ts'
import type { PullReader } from './pull.ts'
import type { Push } from './push.ts'

/** An untrusted delivery. */
export type Received = {
  headers: Headers
  /** The signed bytes: the raw body, or the JSON in its form. */
  body: Buffer
  /** The time of arrival, in milliseconds. */
  now: number
}

/** The media type of a form, whose field `payload` has the JSON. */
export const form = 'application/x-www-form-urlencoded'

/** The differences between the senders of webhooks; `receive` is the same for all. */
export type Provider = {
  name: ProviderName
  mediaTypes: string[]
  /** Signs the value of a form's field rather than the bytes of the body. */
  signsField?: boolean
  /** Names the event; `pushEvents` are its values for pushes to a branch or a tag. */
  eventHeader: string
  pushEvents: string[]
  /** False when the body has another kind of push than the event. Without it, an event has both. */
  isPushOf?: (event: string, push: Push) => boolean
  checkEvents: string[]
  signatureHeaders: string[]
  /** The first one present has the sender's id of the delivery, which is the same for a repeat. */
  idHeaders: string[]
  /** True when the signature was made with the project's secret. */
  isSignedWith: (secret: string, received: Received) => Promise<boolean>
  repository: { member: string; fullName: string; addresses: string[] }
  members: string[]
  readPush: (payload: object) => Push | null
  pulls: PullReader & { events: string[] }
}
