import { readFileSync } from 'node:fs'
import { networkInterfaces } from 'node:os'
import { ok, wrong } from './finding.ts'

/** Bytes of a packet between containers of two servers, with what the overlay adds to Docker’s 1450. */
const needed = 1500

/** Larger packets than the way to other servers takes vanish: small requests work, and large ones hang. */
export function checkMtu(address: string | null, { sys = '/sys/class/net' } = {}) {
  const interfaces = Object.entries(networkInterfaces())
  const [name] = interfaces.find(([, own]) => own?.some((one) => one.address === address)) ?? []
  if (!name) return []
  const mtu = Number(readFileSync(`${sys}/${name}/mtu`, 'utf8'))
  const is = `${name}, which leads to the other servers, has an MTU of ${mtu}`
  return mtu >= needed
    ? [ok('mtu', is)]
    : [
        wrong(
          'mtu',
          `${is}, and networks across servers need ${needed}`,
          'Raise it on all servers: small requests between containers work, and large ones hang.',
        ),
      ]
}
