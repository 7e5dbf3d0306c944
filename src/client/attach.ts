import { setTimeout as sleep } from 'node:timers/promises'
import { AppError } from '../platform/errors.ts'
import type { Server } from './call.ts'
import { note } from './say.ts'
import type { Run } from './types.ts'

/** Milliseconds between two attempts to attach again, and how many there are. */
const again = { pause: 1000, most: 30 }

/** Joins this terminal to that of a run until the run has ended; its settings are restored whatever happens. */
export async function attach(server: Server, path: string): Promise<Run> {
  const terminal = new RawTerminal()
  // whoever closes the window ends the command, as over ssh
  const leave = () => {
    terminal.restore()
    void server.post(`${path}/cancel`).finally(() => process.exit(143))
  }
  process.on('SIGTERM', leave).on('SIGHUP', leave)
  try {
    for (let attempt = 0; ; attempt++) {
      const isOver = await joined(server, path, terminal)
      const run = await stateOf(server, path)
      if (isOver || (run && !isGoingOn(run))) return run ?? (await server.get<Run>(path))
      if (attempt >= again.most)
        throw new AppError(
          'unavailable',
          'The connection was lost. The command goes on without it.',
        )
      if (attempt === 0) terminal.say('The connection was lost. Trying again…')
      await sleep(again.pause)
    }
  } finally {
    terminal.restore()
    process.off('SIGTERM', leave).off('SIGHUP', leave)
  }
}

const isGoingOn = ({ status }: Run) => status === 'pending' || status === 'running'

/** Null while the server can't be reached. */
const stateOf = (server: Server, path: string) =>
  server.get<Run>(path).catch((error) => {
    if (error instanceof AppError && error.code === 'unavailable') return null
    throw error
  })

/** True when the run has said its end, false when the connection was lost. */
function joined(server: Server, path: string, terminal: RawTerminal): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  // Bun’s WebSocket takes headers, which the standard's doesn't
  const socket = new WebSocket(`${server.url.replace(/^http/, 'ws')}${path}/attach`, {
    headers: server.headers,
  } as never)
  socket.binaryType = 'arraybuffer'
  const resize = () => socket.send(JSON.stringify({ resize: terminal.size }))
  const type = (bytes: Buffer) => socket.send(new Uint8Array(bytes))
  let isOver = false
  socket.onopen = () => {
    terminal.join(type, resize)
    resize()
  }
  socket.onmessage = ({ data }) => {
    if (typeof data !== 'string') return void process.stdout.write(Buffer.from(data as ArrayBuffer))
    if ('ended' in JSON.parse(data)) isOver = true
  }
  socket.onclose = () => {
    terminal.part(type, resize)
    resolve(isOver)
  }
  socket.onerror = () => {} // followed by its close
  return promise
}

/** Passes on each key, Ctrl-C too, while a socket is joined. */
class RawTerminal {
  get size() {
    const { columns = 80, rows = 24 } = process.stdout
    return [Math.min(columns, 1000) || 80, Math.min(rows, 1000) || 24]
  }

  join(type: (bytes: Buffer) => void, resize: () => void) {
    process.stdin.setRawMode(true)
    process.stdin.on('data', type).resume()
    process.stdout.on('resize', resize)
  }

  part(type: (bytes: Buffer) => void, resize: () => void) {
    process.stdin.off('data', type)
    process.stdout.off('resize', resize)
    this.restore() // so that Ctrl-C ends an attempt to attach again
  }

  restore() {
    process.stdin.setRawMode(false)
    process.stdin.pause()
  }

  say(text: string) {
    note(`\n${text}`)
  }
}
