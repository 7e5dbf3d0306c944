import { serve } from 'bun'

/**
 * The least that the lines of a log to many readers can cost: each encoded once, those of 50 ms in one
 * write. Argument: lines per second. Prints where it listens.
 */
const rate = Number(process.argv[2])
const gathering = 50

type Controller = ReadableStreamDefaultController<Uint8Array>
const readers = new Set<Controller>()
const encoder = new TextEncoder()

const from = performance.now()
let sent = 0
let pending = ''
setInterval(() => {
  const due = Math.floor(((performance.now() - from) / 1000) * rate)
  while (sent < due) {
    const text = `${++sent} ${(Date.now() / 1000).toFixed(6)} INFO request served path=/api/items`
    const link = `<a href="#L${sent}" tabindex="-1">${sent}</a>`
    const row = `<div class="line" id="L${sent}">${link}<span>${text}</span></div>`
    pending += `id: ${sent}\ndata: ${row}\n\n`
  }
}, 5)
setInterval(() => {
  if (pending === '') return
  const bytes = encoder.encode(pending)
  pending = ''
  for (const reader of readers) reader.enqueue(bytes)
}, gathering)

const server = serve({ port: 0, hostname: '127.0.0.1', idleTimeout: 0, fetch })
process.stdout.write(`${server.url.origin}\n`)

function fetch() {
  let reader: Controller
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      reader = controller
      readers.add(reader)
    },
    cancel: () => void readers.delete(reader),
  })
  return new Response(body, { headers: { 'Content-Type': 'text/event-stream' } })
}
