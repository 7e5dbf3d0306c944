import { fstatSync } from 'node:fs'
import type { Server } from './call.ts'

/** In bytes: of one message, and sent but not read by the command yet. */
const maxBytes = { message: 16 * 1024, ahead: 256 * 1024 }

/** True for a pipe or a file, and not for a terminal or /dev/null. */
export function hasInput() {
  try {
    const found = fstatSync(0)
    return found.isFIFO() || found.isFile() || found.isSocket()
  } catch {
    return false // it is closed
  }
}

/** Bun’s WebSocket takes headers, which the standard's doesn't. */
export const openAttach = ({ url, headers }: Server, path: string) =>
  new WebSocket(`${url.replace(/^http/, 'ws')}${path}/attach`, { headers } as never)

/** Passes on standard input, no faster than a run reads it, until either has ended. */
export async function sendInput(server: Server, path: string): Promise<void> {
  const socket = openAttach(server, path)
  let [sent, taken, isOpen] = [0, 0, false]
  let wake = () => {}
  const until = async (isSo: () => boolean) => {
    while (!isSo()) await new Promise<void>((resolve) => (wake = resolve))
  }
  const isOver = () => socket.readyState > WebSocket.OPEN
  socket.onopen = () => {
    isOpen = true
    wake()
  }
  socket.onclose = () => wake()
  socket.onerror = () => {} // followed by its close
  socket.onmessage = ({ data }) => {
    if (typeof data === 'string') taken = (JSON.parse(data).taken as number | undefined) ?? taken
    wake()
  }
  await until(() => isOpen || isOver())
  for await (const chunk of process.stdin as AsyncIterable<Buffer>)
    for (let at = 0; at < chunk.length; at += maxBytes.message) {
      await until(() => sent - taken < maxBytes.ahead || isOver())
      if (isOver()) return
      const part = chunk.subarray(at, at + maxBytes.message)
      socket.send(new Uint8Array(part))
      sent += part.length
    }
  if (!isOver()) socket.send(JSON.stringify({ end: true }))
  await until(isOver)
}
