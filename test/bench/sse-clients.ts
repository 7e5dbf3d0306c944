import type { Socket } from 'bun'

/**
 * Many viewers of one log, and of one container's stats, over connections of their own. Arguments: an
 * address for logs, one for stats, a header, viewers of each, seconds. Says `ready` when every viewer
 * has lines; then measures, and prints what came as JSON.
 */
const [logs, stats, header, count, seconds] = process.argv.slice(2)

type Viewer = { rest: string; last: number; lines: number; missed: number }
const viewers: Viewer[] = []
const delays: number[] = []
let events = 0
let measuring = false
const decoder = new TextDecoder()

for (let i = 0; i < Number(count); i++) {
  const viewer = { rest: '', last: 0, lines: 0, missed: 0 }
  viewers.push(viewer)
  await connect(new URL(logs!), (text) => read(viewer, text))
  await connect(new URL(stats!), (text) => (events += text.split('data: ').length - 1))
}
while (viewers.some(({ last }) => last === 0)) await Bun.sleep(50)
await Bun.sleep(3000) // so many who come at once are another matter than so many who watch
process.stdout.write('ready\n')
for (const viewer of viewers) viewer.lines = 0
events = 0
measuring = true
await Bun.sleep(Number(seconds) * 1000)
delays.sort((a, b) => a - b)
const lines = viewers.reduce((sum, viewer) => sum + viewer.lines, 0)
const missed = viewers.reduce((sum, viewer) => sum + viewer.missed, 0)
const p99 = delays[Math.floor(delays.length * 0.99)] ?? 0
process.stdout.write(`${JSON.stringify({ lines, missed, p99, events })}\n`)
process.exit(0)

async function connect(
  { hostname, port, host, pathname, search }: URL,
  take: (text: string) => void,
) {
  const open = (socket: Socket) => {
    const head = [`GET ${pathname}${search} HTTP/1.1`, `Host: ${host}`, 'Accept: text/event-stream']
    socket.write([...head, header, '', ''].join('\r\n'))
  }
  const data = (_: Socket, chunk: Uint8Array) => take(decoder.decode(chunk))
  await Bun.connect({ hostname, port: Number(port), socket: { open, data } })
}

/** Takes whole events; the number of a line tells whether one before it is missing. */
function read(viewer: Viewer, text: string) {
  const now = Date.now()
  const all = viewer.rest + text
  let from = 0
  for (let end = all.indexOf('\n\n'); end >= 0; end = all.indexOf('\n\n', from)) {
    const id = all.indexOf('id: ', from)
    const number = all.indexOf('<span>', from)
    if (id >= 0 && id < end && number >= 0 && number < end) {
      const sequence = parseInt(all.slice(number + 6, number + 18))
      if (Number.isNaN(sequence)) {
        from = end + 2
        continue // a mark of Davit's
      }
      if (viewer.last > 0) viewer.missed += Math.abs(sequence - viewer.last - 1)
      viewer.last = sequence
      viewer.lines++
      if (measuring) delays.push(now - timeOf(all, from, end))
    }
    from = end + 2
  }
  viewer.rest = all.slice(from)
}

/** As the line shows it, to the millisecond; the floor shows none, but has it as id. */
function timeOf(all: string, from: number, end: number) {
  const shown = all.indexOf('<time>', from)
  if (shown < 0 || shown > end) {
    const id = all.indexOf('id: ', from)
    return Date.parse(all.slice(id + 4, id + 34))
  }
  return Date.parse(`${all.slice(shown + 6, shown + 29).replace(' ', 'T')}Z`)
}
