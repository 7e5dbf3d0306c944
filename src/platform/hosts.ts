import { BlockList, isIP } from 'node:net'
import { Failure } from './errors.ts'
import { unlessAborted } from './pause.ts'

export type Lookup = (host: string) => Promise<string[]>

/** Why Davit may not connect to this host as it is written, or null. Makes no DNS query. */
export function refusedHost(host: string, allow: string[]): string | null {
  const name = canonicalHost(host)
  if (!name) return `“${host}” isn’t a valid host name.`
  if (isNamed(name, allow)) return null
  const refused = isIP(name) ? !isAdmittedAddress(name, allow) : isLocalName(name)
  return refused ? refusal(name) : null
}

/**
 * The addresses to connect to. Every address of the name must be allowed, and the caller must connect to one
 * of these: a second lookup could return another address.
 */
export async function resolveHost(
  host: string,
  options: { allow: string[]; signal: AbortSignal; lookup?: Lookup | undefined },
): Promise<string[]> {
  const { allow, signal } = options
  const refused = refusedHost(host, allow)
  if (refused) throw hostRefused(refused)
  const name = canonicalHost(host)!
  if (isIP(name)) return [name]

  const addresses = await unlessAborted((options.lookup ?? lookupAll)(name), signal).catch(
    (error) => {
      if (signal.aborted) throw signal.reason
      throw hostUnresolved(name, error)
    },
  )
  if (addresses.length === 0) throw hostUnresolved(name)
  if (!isNamed(name, allow) && !addresses.every((address) => isAdmittedAddress(address, allow))) {
    throw hostRefused(refusal(name))
  }
  return addresses
}

const neverConnected = /ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL/

/**
 * Tries the addresses of a name in turn, as one often can’t be reached from here. IPv4 first: when IPv6 doesn't work,
 * detecting that can take all the time there is.
 */
export async function firstReached<Result>(
  addresses: string[],
  { signal }: { signal: AbortSignal },
  connect: (address: string) => Promise<Result>,
): Promise<Result> {
  const inTurn = addresses.toSorted((a, b) => isIP(a) - isIP(b))
  for (const address of inTurn.slice(0, -1))
    try {
      return await connect(address)
    } catch (error) {
      const { code, message } = error as { code?: string; message?: string }
      if (signal.aborted || !neverConnected.test(`${code} ${message}`)) throw error
    }
  return connect(inTurn.at(-1)!)
}

/** True for a private host that the operator allows by its name or address. */
export function isAllowedHost(host: string, allow: string[]) {
  const name = canonicalHost(host)
  return name !== null && (isNamed(name, allow) || inCidrs(name, allow))
}

/** Returns true when one of the entries contains the address; entries that are names never do. */
export function inCidrs(address: string, entries: string[]): boolean {
  const plain = canonicalHost(address)
  if (!plain || !isIP(plain)) return false
  const list = new BlockList()
  for (const entry of entries) addEntry(list, entry)
  return list.check(plain, familyOf(plain))
}

/** True for those that stand for all addresses of this machine. */
export const isAnyAddress = (address: string) => address === '0.0.0.0' || address === '::'

export const nearAddress = (host: string) =>
  isAnyAddress(host) ? (host === '::' ? '::1' : '127.0.0.1') : host

/** True for `localhost`, 127.0.0.0/8 and ::1: only this machine itself can reach them. */
export const isLoopback = (host: string) =>
  canonicalHost(host) === 'localhost' || inCidrs(host, ['127.0.0.0/8', '::1'])

/** The problem of an entry in a list of hosts: it must be a name, an address or a CIDR. Null when valid. */
export function refuseListEntry(entry: string): string | null {
  return parseCidr(entry) || (!entry.includes('/') && canonicalHost(entry))
    ? null
    : `must be names, addresses or CIDRs such as 10.0.0.0/8, not “${entry}”`
}

/** The canonical form of an address or a range, as Caddy reads it; null for anything else. */
export function canonicalRange(text: string) {
  const [address = '', size] = text.split('/')
  if (!parseCidr(text) || address.includes('%')) return null
  const plain = canonicalHost(address)!
  if (size === undefined) return plain
  // the prefix of an IPv4-mapped IPv6 address counts other bits
  return isIP(plain) === isIP(address.replace(/^\[|\]$/g, '')) ? `${plain}/${Number(size)}` : null
}

/** The canonical form of a host: lower case, no trailing dot, no brackets, numbers as an address. */
export function canonicalHost(host: string): string | null {
  const bare = host.replace(/^\[|\]$/g, '')
  const text = isIP(bare) === 6 ? `[${bare}]` : bare
  if (!/^(\[.*\]|[^\s/\\?#@%:]+)$/.test(text) || !URL.canParse(`http://${text}/`)) return null
  const url = new URL(`http://${text}/`)
  if (!/^(\[[0-9a-f:.]+\]|[a-z0-9_][a-z0-9_.-]*)$/.test(url.hostname)) {
    return null
  }
  return embeddedIPv4(url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, ''))
}

// Not globally reachable, by IANA's registries of special-purpose addresses, or embedding an IPv4 address
// that isn't checked here; multicast; and the metadata address of a cloud that uses a public one. Of IPv6
// only 2000::/3 is allocated (RFC 4291); the rest is refused.
const privateBlocks = new BlockList()
for (const cidr of [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '168.63.129.16/32',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
  '2001::/23',
  '2001:db8::/32',
  '2002::/16',
  '3fff::/20',
]) {
  addEntry(privateBlocks, cidr)
}

const globalUnicast = new BlockList()
addEntry(globalUnicast, '2000::/3')

/** True for an address that is globally reachable. */
export function isPublicAddress(address: string) {
  const plain = canonicalHost(address)
  return plain !== null && isIP(plain) !== 0 && isPublic(plain)
}

function isPublic(address: string) {
  if (privateBlocks.check(address, familyOf(address))) return false
  return isIP(address) === 4 || globalUnicast.check(address, 'ipv6')
}

function isAdmittedAddress(address: string, allow: string[]): boolean {
  const plain = canonicalHost(address)
  if (!plain || !isIP(plain)) return false
  return isPublic(plain) || inCidrs(plain, allow)
}

/** Browsers resolve these to their own machine (RFC 6761); no authority issues certificates for them. */
export const isLocalhost = (name: string) => name === 'localhost' || name.endsWith('.localhost')

const isLocalName = (name: string) => isLocalhost(name) || name === 'metadata.google.internal'

const isNamed = (name: string, allow: string[]) =>
  !isIP(name) && allow.some((entry) => !entry.includes('/') && canonicalHost(entry) === name)

function addEntry(list: BlockList, entry: string) {
  const cidr = parseCidr(entry)
  if (cidr) list.addSubnet(cidr.address, cidr.bits, familyOf(cidr.address))
}

function parseCidr(entry: string): { address: string; bits: number } | null {
  const [text = '', size, ...rest] = entry.split('/')
  const address = text.replace(/^\[|\]$/g, '')
  if (!isIP(address) || rest.length > 0) return null
  if (size === undefined) {
    const plain = canonicalHost(address)!
    return { address: plain, bits: bitsOf(plain) }
  }
  return /^\d{1,3}$/.test(size) && Number(size) <= bitsOf(address)
    ? { address, bits: Number(size) }
    : null
}

function bitsOf(address: string) {
  return isIP(address) === 4 ? 32 : 128
}

function familyOf(address: string) {
  return isIP(address) === 4 ? 'ipv4' : 'ipv6'
}

/** An IPv6 address that embeds an IPv4 address (mapped, or NAT64) connects to that IPv4 address. */
function embeddedIPv4(host: string): string {
  const hex = /^(?:::ffff|64:ff9b:):([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(host)
  if (!hex) return host
  const [high, low] = [parseInt(hex[1]!, 16), parseInt(hex[2]!, 16)]
  return [high >> 8, high & 255, low >> 8, low & 255].join('.')
}

// The system's own lookup blocks one of the runtime's few threads, which reading of files needs too: some
// names with a silent server would stop Davit.
const lookupAll: Lookup = async (host) =>
  (await Bun.dns.lookup(host, { backend: 'c-ares' })).map(({ address }) => address)

const refusal = (host: string) =>
  `Davit doesn’t connect to ${host}: it is a private address. ` +
  `The setting DAVIT_ALLOW_HOSTS can allow it.`

const hostRefused = (message: string) =>
  new Failure(
    'host_refused',
    message,
    'Use a public address, or ask the operator to add the host to DAVIT_ALLOW_HOSTS.',
  )

const hostUnresolved = (host: string, cause?: unknown) =>
  new Failure(
    'host_unresolved',
    `The host ${host} doesn’t exist in the DNS.`,
    'Check the spelling of the host in the address.',
    { cause },
  )

/** Of `nas`, `nas:2222`, `::1` or `[::1]:2222`. */
export function splitPort(address: string): { host: string; port: number | null } {
  const found = /^(?:\[(?<v6>[^\]]+)\]|(?<name>[^:[\]]+))(?::(?<port>\d{1,5}))?$/.exec(
    address,
  )?.groups
  return found
    ? { host: (found.v6 ?? found.name)!, port: found.port ? Number(found.port) : null }
    : { host: address, port: null }
}
