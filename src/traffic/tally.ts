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

  /** Once, or so many times: -1 takes it out. */
  addServed({ requests, received, sent, durations, ...statuses }: Served, times = 1) {
    this.requests += times * requests
    for (const kind of this.statuses.keys()) this.statuses[kind]! += times * statuses[nameOf(kind)]
    this.received += times * received
    this.sent += times * sent
    this.durations.addPacked(durations, times)
  }

  /** In the form that is stored. */
  get served(): Served {
    const { requests, received, sent } = this
    const statuses = Object.fromEntries(this.statuses.map((count, kind) => [nameOf(kind), count]))
    const durations = this.durations.pack()
    return { requests, ...(statuses as Record<StatusName, number>), received, sent, durations }
  }
}

type StatusName = Extract<keyof Served, `status${number}`>

const nameOf = (kind: number) => `status${kind + 1}` as StatusName
