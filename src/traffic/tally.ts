import type { AccessLine } from '../edge/access-log.ts'
import { Durations } from './durations.ts'
import type { Served } from './store.ts'

/** The traffic of a host over some time. Tallies can be added. */
export class Tally {
  requests = 0
  /** Counts by the first digit of the status, from 1 to 5. */
  readonly statuses = [0, 0, 0, 0, 0]
  received = 0
  sent = 0
  readonly durations = new Durations()

  add({ requests, status, received, sent, seconds }: AccessLine) {
    const kind = Math.floor(status / 100) - 1
    this.requests += requests
    if (kind in this.statuses) this.statuses[kind]! += requests
    this.received += received * requests
    this.sent += sent * requests
    // a WebSocket lasts as long as it is open, and an aborted request has no meaningful duration
    if (status >= 200) this.durations.add(seconds, requests)
  }

  addServed({ requests, received, sent, durations, ...statuses }: Served) {
    const { status1, status2, status3, status4, status5 } = statuses
    this.requests += requests
    for (const [kind, count] of [status1, status2, status3, status4, status5].entries())
      this.statuses[kind]! += count
    this.received += received
    this.sent += sent
    this.durations.addPacked(durations)
  }

  /** In the form that is stored. */
  get served(): Served {
    const { requests, statuses, received, sent, durations } = this
    const [status1, status2, status3, status4, status5] = statuses as [
      number,
      number,
      number,
      number,
      number,
    ]
    return {
      ...{ requests, status1, status2, status3, status4, status5, received, sent },
      durations: durations.pack(),
    }
  }
}
