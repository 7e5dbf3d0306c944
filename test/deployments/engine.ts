import { unlinkSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import type { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A way to the real engine that can be cut, as when the engine is stopped, and mended. */
export async function aWayToTheEngine() {
  const path = join(tmpdir(), `davit-engine-${Bun.randomUUIDv7()}.sock`)
  const sockets = new Set<Socket>()
  const server = createServer({ allowHalfOpen: true }, (near) => {
    const far = connect({ path: '/var/run/docker.sock', allowHalfOpen: true })
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from)
      from.pipe(to)
      from.on('error', () => to.destroy())
      from.on('close', () => {
        sockets.delete(from)
        to.destroy()
      })
    }
  })
  const open = () => new Promise<void>((resolve) => server.listen(path, resolve))
  const cut = () => {
    server.close()
    for (const socket of sockets) socket.destroy()
    try {
      unlinkSync(path)
    } catch {
      // the server has removed it
    }
  }
  await open()
  return { host: `unix://${path}`, cut, mend: open }
}
