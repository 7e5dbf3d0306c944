import type { Socket } from 'bun'

type Pair = { other: Socket<Pair> | null; waiting: Uint8Array[] }

/** A proxy of one server that breaks all connections once so many bytes were sent, or when it is told. */
export function startCuttingProxy({
  to,
  hostname = '127.0.0.1',
}: {
  to: string
  hostname?: string
}) {
  const target = new URL(to)
  const state = { isAway: false, cuts: 0 }
  const open = new Set<Socket<Pair>>()
  let left = Infinity

  function cut() {
    state.cuts++
    left = Infinity
    for (const socket of open) socket.terminate()
  }

  const server = Bun.listen<Pair>({
    hostname,
    port: 0,
    socket: {
      open(socket) {
        socket.data = { other: null, waiting: [] }
        if (state.isAway) return void socket.terminate()
        open.add(socket)
        void Bun.connect<Pair>({
          hostname: target.hostname,
          port: Number(target.port),
          socket: {
            open(other) {
              other.data = { other: socket, waiting: [] }
              socket.data.other = other
              for (const chunk of socket.data.waiting.splice(0)) pass(other, chunk)
            },
            data: (other, chunk) => pass(other.data.other!, Buffer.from(chunk)),
            drain: (other) => flush(other),
            close: () => void socket.end(),
          },
        })
      },
      data(socket, chunk) {
        left -= chunk.length
        const { other, waiting } = socket.data
        if (left < 0) cut()
        else if (other) pass(other, Buffer.from(chunk))
        else waiting.push(Buffer.from(chunk))
      },
      drain: (socket) => flush(socket),
      close(socket) {
        open.delete(socket)
        socket.data.other?.end()
      },
    },
  })

  return Object.assign(state, {
    url: `http://${hostname}:${server.port}`,
    cut,
    cutIn(bytes: number) {
      left = bytes
    },
    stop: () => server.stop(true),
  })
}

/** What the socket doesn't take now waits for it. */
function pass(socket: Socket<Pair>, chunk: Uint8Array) {
  socket.data.waiting.push(chunk)
  flush(socket)
}

function flush(socket: Socket<Pair>) {
  const { waiting } = socket.data
  while (waiting.length > 0) {
    const written = socket.write(waiting[0]!)
    if (written < waiting[0]!.length) {
      waiting[0] = waiting[0]!.subarray(Math.max(0, written))
      return
    }
    waiting.shift()
  }
}
