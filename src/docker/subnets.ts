import { networkInterfaces } from 'node:os'
import type { Abortable, Engine } from './engine.ts'
import { Failure } from '../platform/errors.ts'
import { listNetworks } from './networks.ts'

/** The first subnet of the pool that overlaps with none in use. All are CIDRs; IPv6 ones are ignored. */
export function freeSubnet(options: { pool: string; prefix: number; used: string[] }): string {
  const pool = toRange(options.pool)
  if (!pool) throw new TypeError(`${options.pool} isn’t an IPv4 network`)
  const used = options.used.flatMap((cidr) => toRange(cidr) ?? [])
  const size = 2 ** (32 - options.prefix)
  let from = pool.from
  while (from + size <= pool.to) {
    const blocker = used.find((range) => range.from < from + size && from < range.to)
    if (!blocker) return `${toAddress(from)}/${options.prefix}`
    // the next aligned one, at or after the end of the blocking one
    from = Math.ceil(blocker.to / size) * size
  }
  throw new Failure(
    'no_free_subnet',
    `Every /${options.prefix} subnet of ${options.pool} is in use.`,
    'Remove unused networks, or choose a larger pool.',
  )
}

/**
 * The free IPv4 address that follows the last assigned one, so that a freed one isn't reused soon; null when
 * none is free. The upper half is used first, because the engine assigns the lowest free address to
 * containers without one, even an address that a stopped container keeps.
 */
export function freeAddress({
  subnet,
  used,
  last,
}: {
  /** In CIDR notation. */
  subnet: string
  used: ReadonlySet<string>
  last: string | null
}): string | null {
  const { from, to } = toRange(subnet)!
  const middle = from + (to - from) / 2
  const halves = [
    { first: middle, end: to - 1 },
    { first: from + 1, end: middle },
  ]
  const after = (last === null ? undefined : toRange(`${last}/32`)?.to) ?? 0
  for (const { first, end } of halves) {
    const start = after > first && after < end ? after : first
    // skips each used one at most once
    const most = Math.min(end - first, used.size + 1)
    for (let i = 0; i < most; i++) {
      const address = toAddress(first + ((start - first + i) % (end - first)))
      if (!used.has(address)) return address
    }
  }
  return null
}

/** The addresses of a subnet (CIDR) that containers can have: not the first, the last and the gateway's. */
export function roomOf(subnet: string) {
  const { from, to } = toRange(subnet)!
  return to - from - 3
}

/** The engine's default for the gateway of a network. */
export const gatewayOf = (subnet: string) => toAddress(toRange(subnet)!.from + 1)

/** CIDRs of the engine's networks and of this machine's interfaces. */
export async function usedSubnets(engine: Engine, { signal }: Abortable = {}): Promise<string[]> {
  const networks = await listNetworks(engine, { signal })
  const interfaces = Object.values(networkInterfaces()).flat()
  return [
    ...networks.flatMap((network) => network.subnets),
    ...interfaces.flatMap((address) => address?.cidr ?? []),
  ]
}

type Range = { from: number; to: number }

function toRange(cidr: string): Range | null {
  const match = /^(\d+)\.(\d+)\.(\d+)\.(\d+)\/(\d+)$/.exec(cidr)
  if (!match) return null
  const [a = 0, b = 0, c = 0, d = 0, prefix = 0] = match.slice(1).map(Number)
  const size = 2 ** (32 - prefix)
  const address = a * 2 ** 24 + b * 2 ** 16 + c * 2 ** 8 + d
  const from = address - (address % size)
  return { from, to: from + size }
}

const toAddress = (value: number) =>
  [24, 16, 8, 0].map((shift) => Math.floor(value / 2 ** shift) % 256).join('.')
