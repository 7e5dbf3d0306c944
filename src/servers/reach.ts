import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { connect } from 'node:net'

/** Where members of a swarm hear of each other, and where packets of their networks arrive. */
export const gossipPort = 7946
export const networkPort = 4789

/** Milliseconds until a port that nothing responds at counts as closed. */
const within = 3000

/** True when something accepts connections there; null when nothing does, but the way is open. */
export function reaches(host: string, port: number): Promise<boolean | null> {
  const { promise, resolve } = Promise.withResolvers<boolean | null>()
  const socket = connect({ host, port, timeout: within })
  socket
    .once('connect', () => resolve(true))
    .once('timeout', () => resolve(false))
    .once('error', ({ code }: NodeJS.ErrnoException) =>
      resolve(code === 'ECONNREFUSED' ? null : false),
    )
  return promise.finally(() => socket.destroy())
}

/** What is said first there; null when nothing accepts connections. */
function hear(host: string, port: number) {
  const { promise, resolve } = Promise.withResolvers<string | null>()
  let isOpen = false
  const end = () => resolve(isOpen ? '' : null)
  const socket = connect({ host, port, timeout: within })
  socket
    .once('connect', () => (isOpen = true))
    .once('data', (chunk: Buffer) => resolve(chunk.toString('latin1', 0, 32)))
    .once('timeout', end)
    .once('error', end)
    .once('close', end)
  return promise.finally(() => socket.destroy())
}

/** The server that asks listens meanwhile, and knows the word when it arrives. */
async function sendWord(host: string, port: number, word: string) {
  const socket = createSocket('udp4')
  try {
    const sent = Promise.withResolvers<void>()
    socket.once('error', () => sent.resolve())
    socket.send(word, port, host, () => sent.resolve())
    await sent.promise
  } finally {
    socket.close()
  }
}

export type Reachable = { address: string; sshPort: number; word: string }

/**
 * Whether connections to a server that joins arrive; whether packets do, it sees itself. Whoever has a code
 * could name any machine: its ssh is only tried where the address is known to be that of the server, or
 * where the server says the word itself. Else `ssh` is null.
 */
export async function reach(
  { address, sshPort, word }: Reachable,
  { isKnown }: { isKnown: boolean },
) {
  const [heard] = await Promise.all([
    hear(address, gossipPort),
    ...[gossipPort, networkPort].map((port) => sendWord(address, port, word)),
  ])
  const isThere = isKnown || heard === word
  const ssh = isThere ? (await reaches(address, sshPort)) === true : null
  return { isThere, reached: { ssh, gossip: heard !== null } }
}

/** Listens at a UDP port; resolves with what says whether the word has arrived, or null if the port is taken. */
export async function awaitWord(address: string, port: number, word: string) {
  const socket = createSocket('udp4')
  const bound = once(socket, 'listening')
  socket.bind(port, address)
  try {
    await bound
  } catch {
    socket.close()
    return null
  }
  let hasArrived = false
  socket.on('message', (message) => {
    hasArrived ||= message.toString() === word
  })
  return { hasArrived: () => hasArrived, [Symbol.dispose]: () => socket.close() }
}
