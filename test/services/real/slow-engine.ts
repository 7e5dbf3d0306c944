import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A way to the real engine that can keep back an answer, as when Davit dies before it hears it. */
export async function aSlowEngine() {
  const path = join(tmpdir(), `davit-engine-${Bun.randomUUIDv7()}.sock`)
  let kept: { request: RegExp; seen: () => void } | null = null

  const server = createServer((near) => {
    const far = connect({ path: '/var/run/docker.sock' })
    let isKept = false
    near.on('data', (bytes: Buffer) => {
      if (kept?.request.test(bytes.toString('latin1', 0, 200))) isKept = true
      far.write(bytes)
    })
    far.on('data', (bytes: Buffer) => {
      if (isKept) kept?.seen()
      else near.write(bytes)
    })
    near.on('error', () => far.destroy()).on('close', () => far.destroy())
    far.on('error', () => near.destroy()).on('close', () => near.destroy())
  })
  await new Promise<void>((resolve) => server.listen(path, resolve))

  return {
    host: `unix://${path}`,
    /** Resolves once the engine has done what such a request asks for, and its answer is kept back. */
    keepBack(request: RegExp) {
      const { promise, resolve } = Promise.withResolvers<void>()
      kept = { request, seen: resolve }
      return promise
    },
    letGo: () => void (kept = null),
    stop: () => void server.close(),
  }
}
