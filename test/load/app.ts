import { writeSync } from 'node:fs'
import { hostname } from 'node:os'
import { digestOf, knownBytes } from './bytes.ts'

// The app that the load is on, in a container or beside the test. It names its version and instance in
// each response, so that the load knows which one it reached.

const version = process.env.APP_VERSION ?? 'none'
const instance = process.env.APP_INSTANCE ?? hostname()
const named = { 'X-Version': version, 'X-Instance': instance }
const tick = 100 // ms
const health = process.env.APP_HEALTH ?? 'good'
if (health === 'dead') process.exit(1)
const isWell = health === 'good'

/** What goes wrong once it serves, such as `crash:20`: from its 20th request on. */
const [fault = '', from = 'never'] = (process.env.APP_FAULT ?? '').split(':')
let [requests, open] = [0, 0]
/** Milliseconds after which a response has left. */
const written = 20

/** Says first how many requests end with it. */
function crash(): never {
  writeSync(1, `ends with ${open} open\n`)
  process.exit(3)
}
if (fault === 'time') setTimeout(crash, Number(from) * 1000)

/** Does its harm; true where it only answers with an error. */
function goesWrong(pathname: string) {
  if (fault === 'path' && pathname === from) crash()
  if (!(++requests >= Number(from))) return false
  if (fault === 'crash') crash()
  if (fault === 'memory') for (const all = []; ;) all.push(Buffer.alloc(2 ** 24, 1))
  return fault === 'errors'
}

/** Its health is bad from the start on, some seconds later, or at every second check. */
let checks = 0
function isHealthy() {
  if (fault === 'flaps' && ++checks % 2 === 0) return false
  return isWell && !(fault === 'sick' && process.uptime() > Number(from))
}

const server = Bun.serve({
  port: Number(process.env.PORT ?? 8080),
  idleTimeout: 0,
  websocket: {
    open: (socket) => void socket.send(`${version} ${instance} hello`),
    message: (socket, message) => void socket.send(`${version} ${instance} ${String(message)}`),
  },
  async fetch(request, server) {
    const { pathname, searchParams } = new URL(request.url)
    const asked = (name: string) => Number(searchParams.get(name) ?? 0)
    if (pathname === '/health') return new Response(version, { status: isHealthy() ? 200 : 503 })
    open++
    if (goesWrong(pathname)) return new Response('', { status: 500, headers: named })
    setTimeout(() => open--, written)
    if (pathname === '/echo') {
      if (server.upgrade(request)) return
      return new Response('Not a WebSocket.\n', { status: 400 })
    }
    if (pathname === '/events')
      return new Response(events(asked('ticks')), {
        headers: { ...named, 'Content-Type': 'text/event-stream' },
      })
    if (pathname === '/download')
      return new Response(slowly(knownBytes(asked('seed'), asked('length')), asked('ticks')), {
        headers: { ...named, 'Content-Length': String(asked('length')) },
      })
    if (pathname === '/upload') {
      const body = new Uint8Array(await request.arrayBuffer())
      return new Response(digestOf(body), { headers: named })
    }
    return new Response(knownBytes(asked('seed'), asked('length')), { headers: named })
  },
})
console.log(`listens on ${server.port}`)

// At once: who is still connected then is cut off, and the load says so.
process.on('SIGTERM', () => process.exit(0))

const events = (ticks: number) =>
  streamOf(async function* () {
    for (let at = 0; at < ticks; at++) {
      yield Buffer.from(`data: ${at}\n\n`)
      await Bun.sleep(tick)
    }
    yield Buffer.from('event: end\ndata: \n\n')
  })

const slowly = (bytes: Uint8Array, ticks: number) =>
  streamOf(async function* () {
    const size = Math.ceil(bytes.length / ticks)
    for (let at = 0; at < bytes.length; at += size) {
      yield bytes.subarray(at, at + size)
      await Bun.sleep(tick)
    }
  })

/** Bun takes the generator as it is. */
const streamOf = (chunks: () => AsyncGenerator<Uint8Array>) => chunks() as unknown as ReadableStream
