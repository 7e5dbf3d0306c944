import type { Socket } from 'node:net'
import { rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'bun:test'

/** An engine with faults that a real one can't be made to show on demand, at the address returned. */
export async function fakeEngine(
  respond: (request: { line: string; socket: Socket }) => void,
  { apiVersion = '1.41' } = {},
): Promise<string> {
  const path = join(tmpdir(), `engine-${Bun.randomUUIDv7()}.sock`)
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('data', (data) => {
      const line = data.toString('latin1').split('\r\n')[0]!
      if (line.includes('/_ping')) answer(socket, 200, '', `Api-Version: ${apiVersion}\r\n`)
      else if (/^(GET|POST|DELETE) /.test(line)) respond({ line, socket })
    })
  })
  await new Promise<void>((resolve) => server.listen(path, resolve))
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
    rmSync(path, { force: true })
  })
  return `unix://${path}`
}

export function answer(socket: Socket, status: number, body: string, headers = '') {
  const length = Buffer.byteLength(body)
  socket.write(`HTTP/1.1 ${status} X\r\n${headers}Content-Length: ${length}\r\n\r\n${body}`)
}
