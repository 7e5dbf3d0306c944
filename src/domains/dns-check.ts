import { isIPv4 } from 'node:net'
import { canonicalHost, isLocalhost, isPublicAddress } from '../platform/hosts.ts'
import { lookUp } from './dns.ts'
import type { Answer } from './dns.ts'

export type DnsCheck = {
  /** Addresses that the name should resolve to; empty when unknown. */
  expected: string[]
  /** Addresses that it resolves to. */
  found: string[]
  ok: boolean | null
  trouble: { message: string; hint: string } | null
  /** True when an authority would reach this server by it, as far as known: a certificate needs that. */
  mayAsk: boolean
}

/** As it is stored with a certificate. */
export const troubleOf = ({ trouble, ok }: DnsCheck) => ({
  errorMessage: ok === true ? null : (trouble?.message ?? null),
  errorHint: ok === true ? null : (trouble?.hint ?? null),
})

export const noAddress = (host: string) => `${host} has no address in the DNS.`

/** Compares a name's addresses with the expected ones. `own` are further valid addresses of this machine. */
export async function checkDns(
  host: string,
  {
    expected,
    own,
    nameServers,
    signal,
  }: { expected: string[]; own: string[]; nameServers: string[] | null; signal: AbortSignal },
): Promise<DnsCheck> {
  if (isLocalhost(host))
    return { expected, found: ['127.0.0.1'], ok: true, trouble: null, mayAsk: false }
  const answer = await lookUp(host, { nameServers, signal })
  return { expected, found: answer.addresses, ...judge(host, answer, { expected, own }) }
}

function judge(
  host: string,
  { addresses, problem }: Answer,
  { expected, own }: { expected: string[]; own: string[] },
): Pick<DnsCheck, 'ok' | 'trouble' | 'mayAsk'> {
  const records = recordsFor(expected)
  const wrong = (message: string, hint: string) =>
    ({ ok: false, trouble: { message, hint }, mayAsk: false }) as const
  if (problem === 'silent')
    return {
      ...wrong(
        `The name servers didn’t respond in time for ${host}.`,
        'Davit tries again. If it keeps failing, check the resolvers in /etc/resolv.conf of the server.',
      ),
      ok: null,
    }
  if (problem === 'failed')
    return wrong(
      `The name servers of ${host} respond with an error.`,
      'Check the domain at your DNS provider: its name servers, and DNSSEC if it is on.',
    )
  if (problem === 'missing') return wrong(noAddress(host), `Add ${records} at your DNS provider.`)
  if (expected.length === 0) return unknown(host, addresses)

  const right = new Set([...expected, ...own].map(canonicalHost))
  const others = addresses.filter((address) => !right.has(canonicalHost(address)))
  if (others.length === 0) return { ok: true, trouble: null, mayAsk: true }
  const listed = others.slice(0, 4).join(', ') + (others.length > 4 ? ', …' : '')
  if (others.length < addresses.length)
    return wrong(
      `${host} points to this server, but also to ${listed}.`,
      `Remove the ${others.length > 1 ? 'records' : 'record'} with ${listed} at your DNS provider.`,
    )
  if (others.every((address) => !isPublicAddress(address)))
    return wrong(
      `${host} points to ${listed}, which can’t be reached from the internet.`,
      `Set ${records} at your DNS provider.`,
    )
  return wrong(
    `${host} points to ${listed} instead of ${expected.join(', ')}.`,
    `Set ${records} at your DNS provider. If ${listed} is a proxy such as Cloudflare in front of this ` +
      'server, HTTPS works with the proxy’s certificate: let it connect over HTTP, or upload a certificate here.',
  )
}

/** Without an expected address the authority decides, unless it can't reach any of these. */
function unknown(host: string, addresses: string[]) {
  const isPublic = addresses.some(isPublicAddress)
  return {
    ok: null,
    mayAsk: isPublic,
    trouble: {
      message: isPublic
        ? `Davit can’t detect its public address, so it can’t check whether ${addresses.join(', ')} is right.`
        : `${host} points to ${addresses.join(', ')}, which can’t be reached from the internet.`,
      hint: 'Set DAVIT_PUBLIC_ADDRESS to the address of this server.',
    },
  }
}

function recordsFor(expected: string[]) {
  if (expected.length === 0) return 'an A record with the address of this server'
  return expected
    .map((address) => `${isIPv4(address) ? 'an A' : 'an AAAA'} record with the value ${address}`)
    .join(' and ')
}
