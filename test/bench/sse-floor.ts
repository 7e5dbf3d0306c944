/**
 * The least that lines to many viewers can cost: each encoded once, those of 50 ms in one write.
 * Arguments: lines per second. Prints where it listens.
 */
const rate = Number(process.argv[2])
const gathering = 50
const statsInterval = 2000

type Controller = ReadableStreamDefaultController<Uint8Array>
const viewers = { logs: new Set<Controller>(), stats: new Set<Controller>() }
const encoder = new TextEncoder()
const text = 'INFO request served path=/api/items status=200 dur=12ms'

const from = performance.now()
let sent = 0
let pending = ''
setInterval(() => {
  const due = Math.floor(((performance.now() - from) / 1000) * rate)
  while (sent < due) {
    const time = new Date().toISOString()
    const shown = `<time>${time.slice(0, 10)} ${time.slice(11, 23)}</time>`
    const row = `<div class="line">${shown}<span>${++sent} ${text}</span></div>`
    pending += `id: ${time.slice(0, -1)}000000Z\ndata: ${row}\n\n`
  }
}, 5)
setInterval(() => {
  if (pending) publish('logs', pending)
  pending = ''
}, gathering)
setInterval(() => publish('stats', `data: ${'x'.repeat(1500)}\n\n`), statsInterval)

const server = Bun.serve({ port: 0, hostname: '127.0.0.1', idleTimeout: 0, fetch })
process.stdout.write(`${server.url.origin}\n`)

function publish(kind: keyof typeof viewers, events: string) {
  const bytes = encoder.encode(events)
  for (const viewer of viewers[kind]) viewer.enqueue(bytes)
}

function fetch(request: Request) {
  const kind = new URL(request.url).pathname.endsWith('stats') ? 'stats' : 'logs'
  let viewer: Controller
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      viewer = controller
      viewers[kind].add(viewer)
    },
    cancel: () => void viewers[kind].delete(viewer),
  })
  return new Response(body, { headers: { 'Content-Type': 'text/event-stream' } })
}
