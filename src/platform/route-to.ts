import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { networkInterfaces } from 'node:os'

export type Route = {
  /** Of this machine, as the other end sees it. */
  address: string
  device: string
  /** The largest packet that the device sends, in bytes. */
  mtu: number
}

/** How this machine reaches an IPv4 address, without sending anything; null when it doesn't. */
export async function routeTo(address: string): Promise<Route | null> {
  const socket = createSocket('udp4')
  try {
    const connected = once(socket, 'connect')
    socket.connect(9, address)
    await connected
    const own = socket.address().address
    const [device] =
      Object.entries(networkInterfaces()).find(([, all]) =>
        all?.some((one) => one.address === own),
      ) ?? []
    if (!device) return null
    const mtu = Number(await readFile(`/sys/class/net/${device}/mtu`, 'utf8'))
    return { address: own, device, mtu }
  } catch {
    return null
  } finally {
    socket.close()
  }
}
