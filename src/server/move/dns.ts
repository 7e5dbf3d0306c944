import { isIPv4 } from 'node:net'
import { planIn } from '../../doctor/current.ts'
import type { Config } from '../../config.ts'
import type { Db } from '../../db/index.ts'
import { lookUp } from '../../domains/dns.ts'
import type { Answer } from '../../domains/dns.ts'

type Change = ReturnType<typeof changesOf>[number]

/** Names that should resolve to this server: its own domain, and those of apps. */
export function namesOf(db: Db, config: Config): string[] {
  const { domain } = config
  const hosts = planIn(db, config).hosts.map(({ name }) => name)
  // the wildcard record covers names below the domain
  const own = hosts.filter((name) => !domain || !name.endsWith(`.${domain}`))
  return [...new Set([...(domain ? [domain, `*.${domain}`] : []), ...own])].filter(
    (name) => name.includes('.') && !/^[\d.:[\]]+$/.test(name),
  )
}

type Leading = {
  /** Addresses of the new server; empty when unknown, as behind a router. */
  to: string[]
  /** Addresses of this server. */
  here: string[]
  /** The new server's name in messages. */
  newServer: string
}

/** Looks up the current records, and returns the changes that make the names resolve to the new server. */
export async function dnsChanges(
  names: string[],
  { signal, ...leading }: Leading & { signal: AbortSignal },
) {
  const found = await Promise.all(
    names.map(async (host) => {
      const asked = host.replace('*.', 'davit-move.')
      return { host, ...(await lookUp(asked, { nameServers: null, signal })) }
    }),
  )
  return found.flatMap((one) => changesOf(one, leading))
}

/** The changes for one name that was looked up. */
export function changesOf(
  { host, addresses, problem }: Answer & { host: string },
  { to, here, newServer }: Leading,
) {
  const isKnown = to.length > 0
  /** False when the name resolves to other addresses than this server's, such as a proxy's. */
  const leadsHere =
    here.length === 0 || addresses.length === 0 || addresses.some((one) => here.includes(one))
  return (['A', 'AAAA'] as const).flatMap((type) => {
    const of = (all: string[]) => all.filter((one) => isIPv4(one) === (type === 'A')).toSorted()
    const [now, then] = [of(addresses), of(to)]
    const isNeeded = type === 'A' && addresses.length === 0
    if (isKnown ? now.join() === then.join() : now.length === 0 && !isNeeded) return []
    const none =
      problem === null || problem === 'missing' ? 'none' : 'unknown, no DNS server says it'
    return {
      ...{ host, type, leadsHere, from: listed(now, none) },
      to: isKnown ? listed(then, 'remove it') : `the public address of ${newServer}`,
    }
  })
}

const listed = (addresses: string[], none: string) => addresses.join(', ') || none

/** Formats the changes as a table. */
export function describeDns(changes: Change[]): string[] {
  const width = Math.max(...changes.map(({ host }) => host.length))
  const elsewhere =
    ' (doesn’t lead to this server now: where a proxy does, change the address there)'
  return changes.map(
    ({ host, type, from, to, leadsHere }) =>
      `  ${host.padEnd(width)}  ${type.padEnd(4)}  ${from} → ${to}${leadsHere ? '' : elsewhere}`,
  )
}
