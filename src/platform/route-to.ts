import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { networkInterfaces } from 'node:os'

export type Route = NonNullable<Awaited<ReturnType<typeof routeTo>>>

/** How this machine reaches an IPv4 address, without sending anything; null when it doesn't. */
export async function routeTo(address: string) {
  const socket = createSocket('udp4')
  try {
    const connected = once(socket, 'connect')
    socket.connect(9, address)
    await connected
    /** Of this machine, as the other end sees it. */
    const own = socket.address().address
    const [device] =
      Object.entries(networkInterfaces()).find(([, all]) =>
        all?.some((one) => one.address === own),
      ) ?? []
    if (!device) return null
    /** The largest packet that the device sends, in bytes. */
    const mtu = Number(await readFile(`/sys/class/net/${device}/mtu`, 'utf8'))
    return { address: own, device, mtu }
  } catch {
    return null
  } finally {
    socket.close()
  }
}
