import { onTestFinished } from 'bun:test'
import { connect, createServer } from 'node:net'

/** The address of the real engine as one on another machine is reached. */
export function engineOverTcp() {
  const relay = createServer((socket) => {
    const engine = connect('/var/run/docker.sock')
    socket.pipe(engine).pipe(socket)
    socket.on('error', () => engine.destroy())
    engine.on('error', () => socket.destroy())
  }).listen(0, '127.0.0.1')
  onTestFinished(() => void relay.close())
  const { port } = relay.address() as { port: number }
  return `tcp://127.0.0.1:${port}`
}
