import { connect } from 'node:net'

/**
 * Sends a webhook that nobody signed but for the end of its body, so that it stays under way until
 * `finish` sends that too, and answers the status, or what became of the connection.
 */
export async function halfSent({ url }: { url: string }) {
  const { hostname, port, host } = new URL(url)
  const body = JSON.stringify({ repository: { full_name: 'a/b' } })
  const { promise, resolve } = Promise.withResolvers<string>()
  const socket = connect({ host: hostname, port: Number(port) })
  let text = ''
  socket.on('data', (chunk) => (text += chunk))
  socket.on('error', ({ message }) => resolve(message))
  socket.on('close', () => resolve(/^HTTP\/1.1 (\d+)/.exec(text)?.[1] ?? 'closed'))
  await new Promise<void>((sent) =>
    socket.write(
      [
        'POST /webhooks/github HTTP/1.1',
        `Host: ${host}`,
        'X-GitHub-Event: push',
        'Content-Type: application/json',
        'Connection: close',
        `Content-Length: ${body.length}`,
        '',
        body.slice(0, 5),
      ].join('\r\n'),
      () => sent(),
    ),
  )
  return {
    finish() {
      socket.write(body.slice(5))
      return promise
    },
    leave: () => socket.destroy(),
  }
}
