import { expect, test } from 'bun:test'
import { tokenOf } from '../deployments/uploading.ts'
import { anEnvironment } from '../logs/collecting.ts'
import { simulatedApp, withAda } from '../support/app.ts'
import { listening } from '../support/listening.ts'

async function served() {
  const { t, ada } = withAda(simulatedApp())
  const { output } = await anEnvironment(t, ada)
  const { port } = listening(t)
  const login = { Accept: 'application/json', Authorization: `Bearer ${tokenOf(t, ada.user.id)}` }
  const ask = (method: string, path: string, more: Record<string, string> = {}) => {
    const headers = { ...login, ...more }
    return fetch(`http://127.0.0.1:${port}${path}`, { method, headers, decompress: false })
  }
  return { t, output, ask }
}

test('the length of a HEAD is that of its GET', async () => {
  const { output, ask } = await served()
  const project = output.split('/').slice(0, 3).join('/')
  for (const path of ['/static/app.css', '/health', '/projects', project, '/docs', '/nowhere'])
    for (const encoding of ['identity', 'gzip']) {
      const [got, head] = await Promise.all(
        ['GET', 'HEAD'].map((method) => ask(method, path, { 'Accept-Encoding': encoding })),
      )
      const { byteLength } = await got!.arrayBuffer()
      expect(byteLength).toBeGreaterThan(0)
      const seen = [path, encoding, head!.status, head!.headers.get('Content-Length')]
      expect(seen).toEqual([path, encoding, got!.status, String(byteLength)])
      expect(await head!.text()).toBe('')
    }
})

test('a HEAD says no length of what is streamed, and ends it', async () => {
  const { t, output, ask } = await served()
  for (const path of [output, `${output}?download=1`, `${output}/stream`, '/metrics']) {
    const head = await ask('HEAD', path)
    expect([path, head.status, head.headers.get('Content-Length')]).toEqual([path, 200, null])
  }
  expect(t.streams.size).toBe(0)
})
