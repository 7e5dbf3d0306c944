import { createServer } from 'node:net'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { awaitWord, gossipPort, networkPort } from '../../servers/reach.ts'
import type { Reachable } from '../../servers/reach.ts'

/** Milliseconds for a packet that was sent before a response. */
const latest = 1000

type Reached = { ssh: boolean | null; gossip: boolean }

/** Listens at the ports of a member of a swarm while Davit tries them. */
export async function probe(
  { address, sshPort }: Omit<Reachable, 'word'>,
  ask: (server: Reachable) => Promise<{ reached: Reached }>,
) {
  const word = Buffer.from(crypto.getRandomValues(new Uint8Array(16))).toString('hex')
  await using open = new AsyncDisposableStack()
  const tcp = await listen(address, word)
  if (tcp) open.defer(() => void tcp.close())
  const ports = [gossipPort, networkPort]
  const udp = await Promise.all(ports.map((port) => awaitWord(address, port, word)))
  for (const one of udp) open.use(one)
  const { reached } = await ask({ address, sshPort, word })
  const deadline = performance.now() + latest
  while (udp.some((one) => one && !one.hasArrived()) && performance.now() < deadline)
    await sleep(20)
  const names = ports.map((port) => `${port} (UDP)`)
  const isGossip = `${gossipPort} (TCP)`
  return {
    /** Ports that another program uses here. */
    taken: [...(tcp ? [] : [isGossip]), ...names.filter((_, at) => !udp[at])],
    /** Ports at which nothing arrived. */
    silent: [
      ...(reached.ssh !== false ? [] : [`${sshPort} (ssh)`]),
      ...(tcp && !reached.gossip ? [isGossip] : []),
      ...names.filter((_, at) => udp[at] && !udp[at].hasArrived()),
    ],
  }
}

/** Says the word to who connects, so that Davit knows that it is here. Null when the port is taken. */
async function listen(address: string, word: string) {
  const server = createServer((socket) => void socket.on('error', () => {}).end(word))
  try {
    const listening = once(server, 'listening')
    server.listen(gossipPort, address)
    await listening
    return server
  } catch {
    return null
  }
}
