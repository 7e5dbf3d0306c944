import { onTestFinished } from 'bun:test'

/** Only as much of an app as a server needs. */
type Served = {
  app: {
    fetch: (
      request: Request,
      env: { server: Bun.Server<undefined> },
    ) => Response | Promise<Response>
  }
}

/** Serves the app on a port of its own until the test ends. */
export function listening({ app }: Served) {
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 0,
    fetch: (request, server) => app.fetch(request, { server }),
  })
  onTestFinished(() => server.stop(true))
  return server
}
