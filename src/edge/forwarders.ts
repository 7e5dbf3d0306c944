import type { AccessLine } from './access-log.ts'

/** Milliseconds for which requests are counted. */
const span = 3_600_000

/** Hosts that are counted; others are ignored. */
const maxHosts = 1000

/** Fewer requests of a host prove nothing. */
const enough = 3

/** Most requests of this host have an X-Forwarded-For that doesn't count; the last came from this address. */
export type Forwarder = { host: string; address: string }

/**
 * Detects proxies that DAVIT_TRUSTED_PROXIES doesn't name. Anyone may send the header, so a few requests of a
 * host prove nothing: behind a proxy most have it.
 */
export class Forwarders {
  #since = 0
  readonly #hosts = new Map<string, { requests: number; forwarded: number; address: string }>()

  see({ key, client, time, isForwarded }: ForwardedLine) {
    if (time - this.#since > span) this.#hosts.clear()
    if (this.#hosts.size === 0) this.#since = time
    const count = this.#hosts.get(key) ?? { requests: 0, forwarded: 0, address: '' }
    if (this.#hosts.size < maxHosts) this.#hosts.set(key, count)
    count.requests++
    if (!isForwarded) return
    count.forwarded++
    count.address = client
  }

  list(): Forwarder[] {
    return [...this.#hosts].flatMap(([host, { requests, forwarded, address }]) =>
      forwarded >= enough && forwarded * 2 > requests ? [{ host, address }] : [],
    )
  }
}

type ForwardedLine = Pick<AccessLine, 'key' | 'client' | 'time' | 'isForwarded'>
