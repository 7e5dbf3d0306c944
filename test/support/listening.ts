import { onTestFinished } from 'bun:test'
import { webSockets } from '../../src/web/web-socket.ts'
import type { Peer } from '../../src/web/web-socket.ts'

/** Only as much of an app as a server needs. */
type Served = {
  app: {
    fetch: (request: Request, env: { server: Bun.Server<Peer> }) => Response | Promise<Response>
  }
}

/** Serves the app on a port of its own until the test ends. */
export function listening({ app }: Served, { port = 0 } = {}) {
  const server = Bun.serve({
    port,
    hostname: '127.0.0.1',
    idleTimeout: 0,
    websocket: webSockets,
    fetch: (request, server) => app.fetch(request, { server }),
  })
  onTestFinished(() => server.stop(true))
  return server
}
