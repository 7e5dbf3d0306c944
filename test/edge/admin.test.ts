import { afterAll, afterEach, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connectAdmin } from '../../src/edge/admin.ts'

const { signal } = new AbortController()
const folder = mkdtempSync(join(tmpdir(), 'davit-admin-'))
const socket = join(folder, 'admin.sock')
const admin = connectAdmin({ socket })
let server: Bun.Server<unknown> | undefined

/** Something on the socket that Caddy may be away from, or be no Caddy at all. */
const answering = (fetch: (request: Request) => Response | Promise<Response>) =>
  (server = Bun.serve({ unix: socket, fetch }))

afterAll(() => rmSync(folder, { recursive: true }))
afterEach(async () => {
  await server?.stop(true)
  rmSync(socket, { force: true })
})

const failed = (work: Promise<unknown>) =>
  work.then(
    () => null,
    (error) => error,
  )

test('no Caddy is a failure in a sentence', async () => {
  expect(await failed(admin.read('config/', { signal }))).toMatchObject({
    code: 'edge_unreachable',
    message: 'Caddy’s admin API can’t be reached.',
  })
})

test('a Caddy that doesn’t answer is waited for only so long', async () => {
  answering(() => new Promise(() => {}))
  expect(await failed(admin.read('config/', { signal, timeout: 50 }))).toMatchObject({
    code: 'edge_timeout',
    message: 'Caddy didn’t respond within 0.05 s.',
  })
})

test('an abort ends the wait with its reason', async () => {
  answering(() => new Promise(() => {}))
  const over = new AbortController()
  const reading = failed(admin.read('config/', { signal: over.signal }))
  over.abort(new Error('over'))
  expect(await reading).toMatchObject({ message: 'over' })
})

test('a refusal says Caddy’s reason, and no more than a few lines of it', async () => {
  const error = `loading "x": ${'no '.repeat(1000)}`
  answering(() => Response.json({ error }, { status: 400 }))
  const failure = await failed(admin.load({}, { signal }))
  expect(failure).toMatchObject({ code: 'edge_refused' })
  expect(failure.message).toStartWith('Caddy refused the configuration: loading "x": no no')
  expect(failure.message.length).toBeLessThan(600)
})

test('an answer without end, and one that isn’t JSON, are not taken', async () => {
  answering(() => {
    const block = new Uint8Array(2 ** 20)
    return new Response(new ReadableStream({ pull: (to) => to.enqueue(block) }))
  })
  expect(await failed(admin.read('config/', { signal }))).toMatchObject({ code: 'edge_answer' })
  await server!.stop(true)
  answering(() => new Response('<html>'))
  expect(await failed(admin.read('config/', { signal }))).toMatchObject({ code: 'edge_answer' })
})

test('who reached the admin API of the configuration before, and was cut off, asks again, once', async () => {
  let cuts = 1
  let asked = 0
  using cutting = Bun.listen({
    unix: socket,
    socket: {
      data(connection) {
        if (++asked <= cuts) connection.terminate()
        else connection.end('HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}')
      },
    },
  })
  expect(await admin.read('config/', { signal })).toEqual({})
  ;[cuts, asked] = [1, 0]
  await admin.load({}, { signal })
  ;[cuts, asked] = [1, 0]
  const written = await failed(admin.write('PUT', 'config/', {}, { signal }))
  expect(written).toMatchObject({ code: 'edge_unreachable' })
  ;[cuts, asked] = [Infinity, 0]
  expect(await failed(admin.read('config/', { signal }))).toMatchObject({
    code: 'edge_unreachable',
  })
  expect(asked).toBe(2)
  cutting.stop(true)
})
