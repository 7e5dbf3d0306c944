import type { Socket } from 'bun'

/**
 * Many readers of one log, over connections of their own. Arguments: an address, a header, how many
 * readers, seconds. Says `ready` when all of them have lines; then measures, and prints what came as
 * JSON: lines, those not in their place, and how late the latest hundredth came, in milliseconds.
 */
const [address, header, count, seconds] = process.argv.slice(2)
const { hostname, port, host, pathname, search } = new URL(address!)

type Reader = { rest: string; last: number; lines: number; misplaced: number }
const readers: Reader[] = []
let delays: number[] = []

while (readers.length < Number(count)) await open()
while (readers.some(({ last }) => last === 0)) await Bun.sleep(50)
await Bun.sleep(3000) // so many who come at once are another matter than so many who read
process.stdout.write('ready\n')
for (const reader of readers) reader.lines = 0
delays = []
await Bun.sleep(Number(seconds) * 1000)
delays.sort((a, b) => a - b)
const sum = (of: (reader: Reader) => number) => readers.reduce((all, reader) => all + of(reader), 0)
const lines = sum((reader) => reader.lines)
const misplaced = sum((reader) => reader.misplaced)
const p99 = delays[Math.floor(delays.length * 0.99)] ?? 0
process.stdout.write(`${JSON.stringify({ lines, misplaced, p99 })}\n`)
process.exit(0)

async function open() {
  const reader = { rest: '', last: 0, lines: 0, misplaced: 0 }
  readers.push(reader)
  const data = (_: Socket, chunk: Uint8Array) =>
    read(reader, Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length).toString('latin1'))
  const socket = await Bun.connect({ hostname, port: Number(port), socket: { data } })
  const head = [`GET ${pathname}${search} HTTP/1.1`, `Host: ${host}`, 'Accept: text/event-stream']
  socket.write([...head, header, '', ''].join('\r\n'))
}

/** A line begins with its number, and when it was printed. */
function read(reader: Reader, text: string) {
  const now = Date.now()
  const all = reader.rest + text
  const end = all.lastIndexOf('\n\n') + 2
  for (let at = all.indexOf('<span>'); at >= 0 && at < end; at = all.indexOf('<span>', at + 6)) {
    const number = parseInt(all.slice(at + 6, at + 18))
    if (Number.isNaN(number)) continue
    if (reader.last > 0 && number !== reader.last + 1) reader.misplaced++
    reader.last = number
    reader.lines++
    const time = at + 6 + String(number).length + 1
    delays.push(now - Number(all.slice(time, time + 17)) * 1000)
  }
  reader.rest = all.slice(Math.max(end, 0))
}
