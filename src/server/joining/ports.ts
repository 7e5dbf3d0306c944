import { wrong } from '../../doctor/finding.ts'
import { listens, tcpSockets } from '../../platform/tcp-sockets.ts'
import { blocked } from '../judge.ts'
import type { Judged } from '../judge.ts'

const isOfApps = (port: number) => port >= 20_000 && port <= 29_999

/** Those of apps at which a program listens here, at this address or at all. */
export async function openPorts(address: string): Promise<number[]> {
  const reversed = address.split('.').toReversed().map(Number)
  const own = Buffer.from(reversed).toString('hex').toUpperCase()
  const places = ['0'.repeat(8), '0'.repeat(32), own, `0000000000000000FFFF0000${own}`]
  const ports = (await tcpSockets())
    .filter(({ state }) => state === listens)
    .map(({ local }) => local.split(':') as [string, string])
    .flatMap(([place, port]) => (places.includes(place) ? Number.parseInt(port, 16) : []))
  return [...new Set(ports)].filter(isOfApps).toSorted((a, b) => a - b)
}

/** What the firewall would cut off. */
export function judgePorts({ sshPorts, open }: { sshPorts: number[]; open: number[] }): Judged[] {
  const ssh = sshPorts.find(isOfApps)
  const others = open.filter((port) => !sshPorts.includes(port))
  return [
    ssh
      ? blocked(
          'ssh',
          `sshd listens at port ${ssh}, and 20000 to 29999 are for apps`,
          'Let it listen at another port, or you would no longer get in.',
        )
      : [],
    others.length > 0
      ? wrong(
          'ports',
          `programs listen at ${others.join(', ')}: only members of the swarm will reach them`,
          'Let them listen outside of 20000 to 29999, which are for apps.',
        )
      : [],
  ].flat()
}
