import { Resolver } from 'node:dns/promises'

export type Answer = {
  addresses: string[]
  problem: 'missing' | 'failed' | 'silent' | null
}

/** Maximum addresses of one family: a response may have thousands. */
const maxAddresses = 20

/** Milliseconds for a name server; twice as long on the retry. */
const timeoutMs = 1500

/**
 * Resolves a name by the DNS, ignoring the machine's hosts file. Uses the system's resolvers unless others
 * are given (`127.0.0.1:5300`).
 */
export async function lookUp(
  name: string,
  { nameServers, signal }: { nameServers: string[] | null; signal: AbortSignal },
): Promise<Answer> {
  signal.throwIfAborted()
  const resolver = new Resolver({ timeout: timeoutMs, tries: 2 })
  if (nameServers) resolver.setServers(nameServers)
  const cancel = () => resolver.cancel()
  signal.addEventListener('abort', cancel)
  try {
    const asked = [resolver.resolve4(name), resolver.resolve6(name)]
    const answers = await Promise.allSettled(asked)
    signal.throwIfAborted()
    const addresses = answers.flatMap((answer) =>
      answer.status === 'fulfilled' ? answer.value.slice(0, maxAddresses) : [],
    )
    if (addresses.length > 0) return { addresses: [...new Set(addresses)], problem: null }
    const codes = answers.map((answer) => answer.status === 'rejected' && answer.reason.code)
    return { addresses: [], problem: problemOf(codes) }
  } finally {
    signal.removeEventListener('abort', cancel)
  }
}

function problemOf(codes: unknown[]): Answer['problem'] {
  if (codes.every((code) => code === 'ENOTFOUND' || code === 'ENODATA')) return 'missing'
  return codes.some((code) => code === 'ETIMEOUT' || code === 'ECONNREFUSED') ? 'silent' : 'failed'
}
