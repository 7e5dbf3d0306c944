import { expect, onTestFinished, test } from 'bun:test'
import { anInstallation } from '../support/installation.ts'

const count = 500

test('who sends a request a byte a second keeps no one out, and is left', async () => {
  const davit = anInstallation()
  onTestFinished(() => davit.leave())
  const { url } = await davit.start()
  const { hostname, port } = new URL(url)
  let open = count
  const closed = Promise.withResolvers<void>()
  const socket = {
    data() {},
    error() {},
    close: () => void (--open === 0 && closed.resolve()),
  }
  const connecting = Array.from({ length: count }, () =>
    Bun.connect({ hostname, port: Number(port), socket }),
  )
  const sockets = await Promise.all(connecting)
  for (const one of sockets) one.write('GET / HTTP/1.1\r\nHost: davit\r\nX-Slow: ')
  const health: number[] = []
  const trickle = setInterval(async () => {
    for (const one of sockets) one.write('a')
    const asked = performance.now()
    const { ok } = await fetch(`${url}/health`)
    health.push(ok ? performance.now() - asked : Infinity)
  }, 1000)
  await Promise.race([closed.promise, Bun.sleep(15_000)])
  clearInterval(trickle)
  for (const one of sockets) one.terminate()
  expect(open).toBe(0)
  expect(health.filter((milliseconds) => milliseconds >= 1000)).toEqual([])
})
