import type { Socket } from 'bun'

/**
 * Reads one deployment's log over many connections, and looks at what came only when all of it has:
 * nothing stands in the way of what is measured. Arguments: an address, a header, how many readers.
 * Prints, as JSON, the milliseconds from the first line at
 * any of them to the last line at all, how many lines each got, and how many were not in their place.
 */
const [address, header, count] = process.argv.slice(2)
const { hostname, port, host, pathname, search } = new URL(address!)

/** An event with its id, and the number that the build gave the line. */
const line = /id: (\d+)\ndata: [^\n]*?<span>(?:(\d+) INFO)?/g

type Piece = { at: number; bytes: Uint8Array }

const readers = await Promise.all(Array.from({ length: Number(count) }, open))
await Promise.all(readers.map(({ ended }) => ended))
const seen = readers.map(({ pieces }) => look(pieces))
const duration = Math.max(...seen.map(({ last }) => last)) - Math.min(...seen.map((s) => s.first))
const lines = seen.map((reader) => reader.lines)
const misplaced = seen.reduce((sum, reader) => sum + reader.misplaced, 0)
process.stdout.write(`${JSON.stringify({ duration, lines, misplaced })}\n`)

async function open() {
  const pieces: Piece[] = []
  const opened = Promise.withResolvers<void>()
  const ended = Promise.withResolvers<void>()
  const data = (socket: Socket, chunk: Uint8Array) => {
    opened.resolve()
    pieces.push({ at: performance.now(), bytes: chunk.slice() })
    if (Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length).includes('event: done'))
      socket.end()
  }
  const close = () => ended.resolve()
  const socket = await Bun.connect({ hostname, port: Number(port), socket: { data, close } })
  const head = [`GET ${pathname}${search} HTTP/1.1`, `Host: ${host}`, 'Accept: text/event-stream']
  socket.write([...head, header, '', ''].join('\r\n'))
  await opened.promise
  return { pieces, ended: ended.promise }
}

/** The build numbers its lines, and the log its events: neither may skip or repeat one. */
function look(pieces: Piece[]) {
  const found = { first: 0, last: 0, lines: 0, misplaced: 0 }
  let event = 0
  let rest = ''
  for (const { at, bytes } of pieces) {
    const text = rest + Buffer.from(bytes).toString('latin1')
    const end = text.lastIndexOf('\n\n') + 2
    for (const [, id, number] of text.slice(0, end).matchAll(line)) {
      if (Number(id) !== ++event) found.misplaced++
      if (number === undefined) continue
      if (Number(number) !== ++found.lines) found.misplaced++
      found.first ||= at
      found.last = at
    }
    rest = text.slice(end)
  }
  return found
}
