import { Hub } from '../live/hub.ts'
import type { Message } from './senders/sender.ts'

/** The pages of Davit that users have open, which show what their browser channels get. */
export class OpenPages {
  readonly #hub = new Hub<Message>()

  /** Returns the answer for the delivery log. Without a page it only stays in the list of events. */
  show(userId: string, message: Message) {
    const isOpen = this.#hub.isHeard(userId)
    this.#hub.publish(userId, message)
    return isOpen ? 'shown' : 'no page was open'
  }

  /** The messages from now on, until the signal. */
  follow = (userId: string, signal: AbortSignal) => this.#hub.subscribe(userId, signal)
}
