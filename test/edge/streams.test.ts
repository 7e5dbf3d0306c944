import { expect, onTestFinished, test } from 'bun:test'
import { until } from '../support/until.ts'
import { aHost, anEdge } from './caddy.ts'

const edge = await anEdge()

/** An app with an echo over WebSocket, and a stream of events that a test feeds. */
function anApp(name: string) {
  const feeds = new Set<ReadableStreamDefaultController<string>>()
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 0,
    websocket: { message: (socket, message) => void socket.send(`${name}: ${String(message)}`) },
    fetch(request, server) {
      if (server.upgrade(request)) return
      if (new URL(request.url).pathname !== '/events') return new Response(name)
      const stream = new ReadableStream<string>({ start: (feed) => void feeds.add(feed) })
      return new Response(stream as unknown as ReadableStream<Uint8Array>, {
        headers: { 'Content-Type': 'text/event-stream' },
      })
    },
  })
  onTestFinished(() => server.stop(true))
  return {
    address: `127.0.0.1:${server.port}`,
    isHeard: () => feeds.size > 0,
    say: (text: string) => feeds.forEach((feed) => feed.enqueue(`data: ${text}\n\n`)),
  }
}

async function aSocket() {
  const headers = { Host: 'app.test' }
  const socket = new WebSocket(`ws://127.0.0.1:${edge.ports.http}/`, { headers } as never)
  onTestFinished(() => socket.close())
  const heard: string[] = []
  socket.addEventListener('message', ({ data }) => heard.push(String(data)))
  await new Promise((resolve, reject) => {
    socket.addEventListener('open', resolve)
    socket.addEventListener('error', reject)
  })
  return {
    async ask(text: string) {
      const before = heard.length
      socket.send(text)
      await until(() => heard.length > before || socket.readyState !== WebSocket.OPEN)
      return heard.at(-1)
    },
  }
}

test('WebSockets and event streams outlive switches and new configurations', async () => {
  const old = anApp('old')
  edge.slots('app', old.address)
  await edge.serve([aHost('app.test')])
  const socket = await aSocket()
  const headers = { 'Accept-Encoding': 'gzip', Host: 'app.test' }
  const asked = edge.get('http://app.test/events', { headers })
  await until(() => old.isHeard()) // Bun sends no head before the first event
  old.say('first')
  const events = (await asked).body!.getReader()
  const next = async () => new TextDecoder().decode((await events.read()).value)
  expect(await next()).toBe('data: first\n\n')

  edge.slots('app', anApp('new').address)
  for (const name of ['b.test', 'c.test']) await edge.serve([aHost('app.test'), aHost(name)])
  expect(await (await edge.get('http://app.test/')).text()).toBe('new')
  expect(await socket.ask('still there?')).toBe('old: still there?')
  old.say('second')
  expect(await next()).toBe('data: second\n\n')
  await events.cancel()
})
