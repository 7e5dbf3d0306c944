import type { Config } from '../config.ts'
import { checkDns } from '../domains/dns-check.ts'
import type { DnsCheck } from '../domains/dns-check.ts'
import { publicAddresses } from '../domains/public-address.ts'
import type { Host } from '../edge/plan.ts'
import { Semaphore } from '../platform/semaphore.ts'
import { readPlan } from './current.ts'
import { ok, wrong } from './finding.ts'
import type { Finding } from './finding.ts'

/** More names would take too long to check. */
const maxNames = 100
const atOnce = 10

type Options = { nameServers?: string[] | null; signal?: AbortSignal }

export async function checkDomains(config: Config, options: Options = {}): Promise<Finding[]> {
  if (config.edge === 'direct') return []
  const { hosts = [], edges = [] } = readPlan(config) ?? {}
  if (hosts.length === 0) return []
  const left = hosts.length - maxNames
  const rest = left > 0 ? [ok('domains', `${left} more weren’t looked up: see Domains`)] : []
  return [...(await lookUp(config, { hosts, own: edges }, options)), ...rest]
}

async function lookUp(
  config: Config,
  { hosts, own }: { hosts: Host[]; own: string[] },
  { nameServers = null, signal = AbortSignal.timeout(25_000) }: Options,
) {
  const expected = await publicAddresses({ config, nameServers }, { own, signal })
  const turns = new Semaphore(atOnce)
  const given = { expected, own, nameServers, signal }
  const found = await Promise.all(
    hosts.slice(0, maxNames).map(async ({ name }) => {
      using _ = await turns.acquire(signal)
      return checkDns(name, given)
    }),
  )
  const troubled = found.filter(({ ok, trouble }) => ok !== true && trouble !== null)
  if (troubled.length === 0)
    return [ok('domains', `${names(found.length)} to ${expected.join(', ')}`)]
  // without an address to compare with, every name has the same problem
  const isOfAll = (one: DnsCheck) =>
    expected.length === 0 && one.ok === null && one.found.length > 0
  const once = troubled.find(isOfAll)
  return troubled
    .filter((one) => one === once || !isOfAll(one))
    .map(({ trouble }) => wrong('domains', trouble!.message, trouble!.hint))
}

const names = (count: number) => (count === 1 ? 'one name points' : `${count} names point`)
