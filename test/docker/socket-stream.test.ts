import { expect, spyOn, test } from 'bun:test'
import { connectEngine } from '../../src/docker/engine.ts'
import { EngineError } from '../../src/docker/index.ts'
import { waitForOutput } from '../../src/docker/logs.ts'
import { until } from '../support/until.ts'
import { answer, fakeEngine } from './fake-engine.ts'
import { collect } from './sandbox.ts'

const head = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n'

const read = (host: string, signal?: AbortSignal) =>
  connectEngine(host).stream('GET', '/logs', {
    query: { tail: 5, since: undefined },
    signal,
  })

const textOf = async (host: string) => Buffer.concat(await collect(read(host))).toString()

test('chunks of any size arrive as one text, and the query is asked', async () => {
  const lines: string[] = []
  const host = await fakeEngine(({ line, socket }) => {
    lines.push(line)
    socket.write(`${head}3\r\nabc\r\n`)
    setTimeout(() => socket.end('2\r\nde\r\n0\r\n\r\n'), 20)
  })
  expect(await textOf(host)).toBe('abcde')
  expect(lines).toEqual(['GET /v1.41/logs?tail=5 HTTP/1.1'])
})

test('an answer of known length ends there', async () => {
  const host = await fakeEngine(({ socket }) => answer(socket, 200, 'whole'))
  expect(await textOf(host)).toBe('whole')
})

test('a refusal has the status and the sentence of the engine', async () => {
  const host = await fakeEngine(({ socket }) => answer(socket, 409, '{"message":"it is dead"}'))
  const refused = await textOf(host).catch((error) => error)
  expect(refused).toBeInstanceOf(EngineError)
  expect(refused).toMatchObject({ status: 409, message: 'it is dead' })
})

test('an answer that breaks off says that the engine went away', async () => {
  for (const sent of [
    '',
    'HTTP/1.1 200 OK\r\n',
    `${head}5\r\nab`,
    'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nab',
  ]) {
    const host = await fakeEngine(({ socket }) => void socket.end(sent))
    expect(await textOf(host).catch((error) => error)).toMatchObject({ code: 'engine_unreachable' })
  }
})

test('an engine that is not there is named', async () => {
  const failed = await textOf('unix:///nowhere/engine.sock').catch((error) => error)
  expect(failed).toMatchObject({ code: 'engine_unreachable' })
})

test('leaving and aborting close the connection', async () => {
  for (const way of ['leave', 'abort', 'abort and leave']) {
    const closed = Promise.withResolvers<void>()
    const host = await fakeEngine(({ socket }) => {
      socket.on('close', () => closed.resolve())
      socket.write(`${head}2\r\nab\r\n`)
    })
    const stop = new AbortController()
    const pieces = read(host, stop.signal)
    expect((await pieces.next()).value?.length).toBe(2)
    if (way === 'abort and leave') stop.abort()
    if (way !== 'abort') await pieces.return(undefined)
    else {
      const next = pieces.next()
      stop.abort()
      expect(await next.catch((error) => error.name)).toBe('AbortError')
    }
    await closed.promise
  }
})

test('who does not pull holds the engine up', async () => {
  let sent = 0
  const host = await fakeEngine(({ socket }) => {
    socket.write(head)
    const piece = `10000\r\n${'x'.repeat(65_536)}\r\n`
    const push = () => {
      while (sent < 400 && socket.write(piece)) sent++
      if (sent < 400) socket.once('drain', push)
    }
    push()
  })
  const pieces = read(host)
  await pieces.next()
  await Bun.sleep(200)
  expect(sent).toBeLessThan(100)
  let length = 0
  for await (const piece of pieces) {
    length += piece.length
    if (length > 300 * 65_536) break
  }
})

test('aborting while it connects ends it too', async () => {
  const host = await fakeEngine(({ socket }) => void socket.write(`${head}3\r\nabc\r\n`)) // and no more
  const abort = new AbortController()
  const { fetch } = globalThis
  using _ = spyOn(globalThis, 'fetch').mockImplementation(((...asked: Parameters<typeof fetch>) => {
    const connecting = fetch(...asked)
    abort.abort(new Error('gone'))
    return connecting
  }) as typeof fetch)
  await expect(collect(read(host, abort.signal))).rejects.toThrow('gone')
})

test('however many wait for a container to write, what is asked beside them is answered', async () => {
  let waiting = 0
  const host = await fakeEngine(({ line, socket }) => {
    if (!line.includes('/logs?')) return answer(socket, 200, '{}')
    waiting++
    socket.write(head)
  })
  const engine = connectEngine(host)
  const stop = new AbortController()
  const { signal } = stop
  const waits = Array.from({ length: 300 }, (_, n) => waitForOutput(engine, `${n}`, { signal }))
  const ended = Promise.allSettled(waits)
  await until(() => waiting === 300)
  expect(await engine.request<object>('GET', '/info', { timeout: 5000 })).toEqual({})
  stop.abort()
  await ended
})
