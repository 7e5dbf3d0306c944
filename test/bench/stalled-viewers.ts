import { connect } from 'node:net'
import type { Socket } from 'node:net'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { startDavit } from '../support/davit.ts'
import { printer } from './printer.ts'
import { residentMemory } from './process.ts'
import type { Row } from './ratio.ts'
import { enterWithApp } from './reader.ts'

const stalled = 100
const runs = 3

/** Lines of the container; a second of them is more than one viewer may cost. */
const perSecond = 10_000

/** Milliseconds for which viewers read nothing. */
const duration = 15_000

/** What the memory grows by while viewers of a busy log read nothing and one goes on. */
export async function benchStalledViewers(directory: string, executable: string[]): Promise<Row> {
  const davit: number[] = []
  while (davit.length < runs) davit.push(await growth(directory, executable))
  return {
    what: `memory for each of ${stalled} viewers of a log who read nothing`,
    against: '1 MiB',
    unit: 'MiB',
    davit,
    floor: davit.map(() => 1),
    aim: '≤ 1',
  }
}

async function growth(directory: string, executable: string[]) {
  const fresh = join(directory, Bun.randomUUIDv7())
  mkdirSync(fresh)
  const env = { DAVIT_DATA_DIR: join(fresh, 'data'), DAVIT_STREAMS_PER_USER: '1000' }
  const davit = await startDavit({ directory: fresh, command: executable, env })
  const { header, labels } = await enterWithApp(davit.url, env.DAVIT_DATA_DIR)
  const container = await printer({ perSecond, labels })
  const sockets: Socket[] = []
  try {
    const url = new URL(`${davit.url}/containers/${container.id}/logs?tail=0`)
    sockets.push(open(url, header).resume())
    await Bun.sleep(duration)
    const before = residentMemory(davit.pid)
    while (sockets.length <= stalled) sockets.push(open(url, header).pause())
    await Bun.sleep(duration)
    const readBefore = sockets[0]!.bytesRead
    await Bun.sleep(1000)
    if (sockets[0]!.bytesRead === readBefore)
      throw new Error('Those who read nothing stop the other')
    return (residentMemory(davit.pid) - before) / stalled
  } finally {
    for (const socket of sockets) socket.destroy()
    await container.remove()
    await davit.stop()
  }
}

function open({ hostname, port, host, pathname, search }: URL, header: string) {
  const socket = connect({ host: hostname, port: Number(port) })
  const head = [`GET ${pathname}${search} HTTP/1.1`, `Host: ${host}`, 'Accept: text/event-stream']
  socket.write([...head, header, '', ''].join('\r\n'))
  return socket
}
