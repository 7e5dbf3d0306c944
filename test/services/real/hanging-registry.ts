import { askEngine } from '../../support/machine/engine.ts'
import { startRegistry } from '../../support/registry.ts'

/** A registry with one image in it that doesn’t respond until it is told to. */
export async function aHangingRegistry() {
  const registry = await startRegistry()
  const asked = Promise.withResolvers<void>()
  const opened = Promise.withResolvers<void>()
  const front = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    idleTimeout: 0,
    async fetch(request) {
      asked.resolve()
      await opened.promise
      const { pathname, search } = new URL(request.url)
      const { method, headers } = request
      return fetch(`http://${registry.host}${pathname}${search}`, { method, headers })
    },
  })
  const image = `127.0.0.1:${front.port}/web:1`
  await push(`${registry.host}/web`)

  return {
    image,
    /** Resolves once the engine waits for an answer. */
    asked: asked.promise,
    open: opened.resolve,
    async stop() {
      await askEngine(`/images/${image}?force=1`, { method: 'DELETE' })
      await front.stop(true)
      await registry.stop()
    },
  }
}

async function push(repo: string) {
  const headers = { 'X-Registry-Auth': btoa('{}') }
  await askEngine(`/images/busybox:latest/tag?repo=${repo}&tag=1`, { method: 'POST' })
  const answer = await askEngine(`/images/${repo}/push?tag=1`, { method: 'POST', headers })
  const output = await answer.text()
  if (output.includes('"error"')) throw new Error(`The image is not pushed: ${output}`)
  await askEngine(`/images/${repo}:1`, { method: 'DELETE' })
}
