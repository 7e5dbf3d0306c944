import { expect, test } from 'bun:test'
import { assetPath } from '../../src/web/static.ts'
import { testApp } from '../support/app.ts'
import { listening } from '../support/listening.ts'

test('a file under its current address may be cached forever, under any other it is requested again', async () => {
  const { app } = testApp()
  const fresh = await app.request(assetPath('app.js'))
  expect(fresh.status).toBe(200)
  expect(fresh.headers.get('Content-Type')).toBe('text/javascript; charset=utf-8')
  expect(fresh.headers.get('Cache-Control')).toBe('public, max-age=31536000, immutable')
  for (const path of ['/static/app.js', '/static/app.js?v=000000000000'])
    expect((await app.request(path)).headers.get('Cache-Control')).toBe('no-cache')
})

test('a file that the browser has is not sent again', async () => {
  const { app } = testApp()
  const etag = (await app.request('/static/app.js')).headers.get('ETag')!
  for (const known of [etag, `W/${etag}`, `"other", ${etag}`]) {
    const answer = await app.request('/static/app.js', { headers: { 'If-None-Match': known } })
    expect(answer.status, known).toBe(304)
    expect(await answer.text()).toBe('')
  }
  const stale = await app.request('/static/app.js', { headers: { 'If-None-Match': '"other"' } })
  expect(stale.status).toBe(200)
})

test('a file is compressed for who can read it so', async () => {
  const { app } = testApp()
  const plain = await app.request('/static/app.js')
  expect(plain.headers.get('Content-Encoding')).toBeNull()
  const packed = await app.request('/static/app.js', { headers: { 'Accept-Encoding': 'gzip, br' } })
  expect(packed.headers.get('Content-Encoding')).toBe('gzip')
  expect(packed.headers.get('Vary')).toBe('Accept-Encoding')
  const bytes = new Uint8Array(await packed.arrayBuffer())
  expect(new TextDecoder().decode(Bun.gunzipSync(bytes))).toBe(await plain.text())
})

test('only files of the assets are served, and without a cookie', async () => {
  const t = testApp()
  const { port } = listening(t)
  for (const path of [
    '/static/../src/main.ts',
    '/static/..%2fsrc%2fmain.ts',
    '/static/%2e%2e/src/main.ts',
    '/static//etc/passwd',
    '/static/%2fetc%2fpasswd',
    '/static/app.js%00.css',
    '/static/',
    '/static/vendor',
    '/static/constructor',
  ]) {
    const { promise, resolve } = Promise.withResolvers<string>()
    let text = ''
    await Bun.connect({
      hostname: 'localhost',
      port: port!,
      socket: {
        open: (socket) =>
          void socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`),
        data: (_, data) => void (text += data.toString()),
        close: () => resolve(text),
      },
    })
    expect(await promise, path).toStartWith('HTTP/1.1 404')
  }
  expect((await t.app.request('/static/app.js')).headers.getSetCookie()).toEqual([])
})
