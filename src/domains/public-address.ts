import { networkInterfaces } from 'node:os'
import type { Config } from '../config.ts'
import type { Db } from '../db/index.ts'
import { isPublicAddress } from '../platform/hosts.ts'
import { listEdgeServers } from '../servers/store.ts'
import { lookUp } from './dns.ts'

export type AddressDeps = {
  config: Pick<Config, 'publicAddresses' | 'domain' | 'url'>
  /** Replaces the system's resolvers in tests. */
  nameServers: string[] | null
}

/** Public addresses of this machine's interfaces. Behind a router, or in most clouds, it has none. */
export const ownAddresses = () =>
  Object.values(networkInterfaces())
    .flatMap((found) => found ?? [])
    .map(({ address }) => address)
    .filter(isPublicAddress)

/** Those of all servers that have an edge. */
export const edgeAddresses = (db: Db) => [
  ...ownAddresses(),
  ...listEdgeServers(db).flatMap(({ address, isServing }) =>
    isServing && isPublicAddress(address) ? address : [],
  ),
]

/**
 * Addresses that names of this server should resolve to: the setting, else the machine's own public
 * addresses, else those of Davit's own name. Empty when unknown; no external service is used.
 */
export async function publicAddresses(
  { config, nameServers }: AddressDeps,
  { own = ownAddresses(), signal }: { own?: string[]; signal: AbortSignal },
): Promise<string[]> {
  if (config.publicAddresses.length > 0) return config.publicAddresses
  if (own.length > 0) return own
  for (const name of [config.domain, config.url?.hostname]) {
    if (!name) continue
    const { addresses } = await lookUp(name, { nameServers, signal })
    const found = addresses.filter(isPublicAddress)
    if (found.length > 0) return found
  }
  return []
}

/**
 * A name at sslip.io for `label` that resolves to an address without DNS setup. Null when no address is
 * public, since no one could use it.
 */
export function sslipName(label: string, addresses: string[]): string | null {
  const usable = addresses.filter(isPublicAddress)
  const address = usable.find((one) => one.includes('.')) ?? usable[0]
  if (!address) return null
  // four numbers in a row would be read as the address
  const plain = label.replace(/\d+(-\d+){3,}/g, (numbers) => numbers.replaceAll('-', ''))
  return `${plain.replaceAll('--', '-')}.${address.replace(/[.:]/g, '-')}.sslip.io`
}
