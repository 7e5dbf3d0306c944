import { isIPv4 } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { established, listens, portInHex, tcpSockets } from '../platform/tcp-sockets.ts'

/** Milliseconds between two checks. */
const interval = 200

/** Reads this host's listening TCP ports. Returns a function that checks a port on an address, or on all. */
export async function listening() {
  const taken = new Set(
    (await tcpSockets()).flatMap(({ local, state }) => (state === listens ? local : [])),
  )
  const ports = new Set([...taken].map((local) => local.split(':')[1]))
  return (port: number, address?: string) => {
    const written = address && !anyAddress.includes(address) ? asWritten(`${address}:${port}`) : []
    if (written.length === 0) return ports.has(portInHex(port)) // not an address, or one that isn't compared
    return [...anyWritten, ...written].some((local) =>
      taken.has(local.includes(':') ? local : `${local}:${portInHex(port)}`),
    )
  }
}

const anyAddress = ['0.0.0.0', '::']
const anyWritten = ['0'.repeat(8), '0'.repeat(32)]

/** The id of the user who listens on a TCP port of this host; null when no one does. */
export async function listenerOf(port: number) {
  const end = `:${portInHex(port)}`
  const found = (await tcpSockets()).find(
    ({ local, state }) => state === listens && local.endsWith(end),
  )
  return found ? found.uid : null
}

/** True when no one is connected to these ports of this host: a new configuration interrupts no one. */
export async function isQuiet(ports: number[]) {
  const ends = ports.map((port) => `:${portInHex(port)}`)
  return !(await tcpSockets()).some(
    ({ local, state }) => state === established && ends.some((end) => local.endsWith(end)),
  )
}

/**
 * Waits until this host, and so Caddy on its network, has no more connections to these addresses
 * (`10.0.0.2:80`). Returns false when some remain at the timeout.
 */
export async function drained(
  addresses: string[],
  { seconds, signal }: { seconds: number; signal: AbortSignal },
) {
  const wanted = new Set(addresses.flatMap(asWritten))
  const end = performance.now() + seconds * 1000
  for (;;) {
    const open = (await tcpSockets()).some(
      ({ remote, state }) => state === established && wanted.has(remote),
    )
    if (!open) return true
    if (performance.now() >= end) return false
    await sleep(interval, undefined, { signal })
  }
}

/** As both tables write it: in the byte order of the processor, and IPv4-mapped in the second. */
function asWritten(address: string): string[] {
  const colon = address.lastIndexOf(':')
  const host = address.slice(0, colon)
  if (!isIPv4(host)) return []
  const bytes = host.split('.').map((part) => Number(part).toString(16).padStart(2, '0'))
  const written = `${bytes.toReversed().join('')}:${portInHex(Number(address.slice(colon + 1)))}`
  return [written.toUpperCase(), `0000000000000000FFFF0000${written}`.toUpperCase()]
}
