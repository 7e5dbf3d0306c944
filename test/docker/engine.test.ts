import { expect, test } from 'bun:test'
import { connectDocker, EngineError } from '../../src/docker/index.ts'
import { connectEngine } from '../../src/docker/engine.ts'
import { unreachable } from '../../src/docker/failures.ts'
import { Failure } from '../../src/platform/errors.ts'
import { answer, fakeEngine } from './fake-engine.ts'
import { engineOverTcp } from './over-tcp.ts'

const failureOf = async (call: Promise<unknown>): Promise<Failure> => {
  const error = await call.then(
    () => null,
    (error) => error,
  )
  expect(error).toBeInstanceOf(Failure)
  return error
}

test("a refusal carries the engine's own sentence", async () => {
  const call = connectEngine(undefined).request('GET', '/containers/no-such/json')
  const error = await call.catch((error) => error)
  expect(error).toBeInstanceOf(EngineError)
  expect(error).toMatchObject({ status: 404, message: 'No such container: no-such' })
})

test.each(['/images/a/../b/json', '/images/../info', '/images/a//json', '/images/./a/json'])(
  'a path that the engine would redirect is not there: %s',
  async (path) => {
    const error = await connectEngine(undefined)
      .request('GET', path, { timeout: 2000 })
      .catch((error) => error)
    expect(error).toMatchObject({ status: 404 })
  },
)

test('nothing is contacted until the first call', async () => {
  const docker = connectDocker({ host: 'unix:///nowhere/docker.sock' })
  expect(docker.remote).toBe(false)
  const failure = await failureOf(docker.info())
  expect(failure.code).toBe('engine_unreachable')
  expect(failure.message).toContain('unix:///nowhere/docker.sock')
  expect(failure.message).toContain('the socket doesn’t exist')
  expect(failure.hint).toContain('Start Docker')
})

test('a refused connection and a missing permission are distinguished', async () => {
  const refused = await failureOf(connectEngine('tcp://127.0.0.1:1').request('GET', '/info'))
  expect(refused.message).toContain('tcp://127.0.0.1:1 can’t be reached: nothing listens there')
  const { address } = connectEngine(undefined)
  const denied = unreachable(address, Object.assign(new Error('denied'), { code: 'EACCES' }))
  expect(denied.message).toContain('this user doesn’t have permission to open it')
  expect(denied.hint).toContain('usermod -aG docker')
})

test('an engine behind tcp:// is talked to, and is remote', async () => {
  const docker = connectDocker({ host: engineOverTcp() })
  expect(docker.remote).toBe(true)
  expect((await docker.info()).os).toBe('linux')
})

test.each([
  ['1.41', '1.41'],
  ['1.99', '1.51'],
])('an engine that speaks %s is spoken to in %s', async (apiVersion, spoken) => {
  const lines: string[] = []
  const respond = ({ line, socket }: Parameters<Parameters<typeof fakeEngine>[0]>[0]) => {
    lines.push(line)
    answer(socket, 200, '[]')
  }
  const engine = connectEngine(await fakeEngine(respond, { apiVersion }))
  await engine.request('GET', '/networks', {
    query: { filters: { label: ['a=b'] }, gone: undefined },
  })
  const query = `filters=${encodeURIComponent('{"label":["a=b"]}')}`
  expect(lines).toEqual([`GET /v${spoken}/networks?${query} HTTP/1.1`])
})

test('an engine that doesn’t respond is given up, and its socket closed', async () => {
  const closed = Promise.withResolvers<void>()
  const host = await fakeEngine(({ socket }) => socket.on('close', () => closed.resolve()))
  const failure = await failureOf(connectEngine(host).request('GET', '/info', { timeout: 50 }))
  expect(failure.code).toBe('engine_timeout')
  expect(failure.message).toContain('GET /info within 0.05 s')
  await closed.promise
})

test('aborting a call closes its socket on the side of the engine', async () => {
  const closed = Promise.withResolvers<void>()
  const controller = new AbortController()
  const host = await fakeEngine(({ socket }) => {
    socket.on('close', () => closed.resolve())
    controller.abort(new Error('changed my mind'))
  })
  const call = connectEngine(host).request('GET', '/info', { signal: controller.signal })
  expect(await call.catch((error) => error.message)).toBe('changed my mind')
  await closed.promise
})

test('the folder of an engine is known while that is down: its disk may be full', async () => {
  const real = connectEngine(undefined)
  const [version, info] = [
    await real.request('GET', '/version'),
    await real.request('GET', '/info'),
  ]
  let isDown = false
  const host = await fakeEngine(({ line, socket }) => {
    if (isDown) socket.destroy()
    else answer(socket, 200, JSON.stringify(line.includes('/version') ? version : info))
  })
  const docker = connectDocker({ host })
  const { folder } = await docker.machine()
  isDown = true
  expect((await failureOf(docker.info())).code).toBe('engine_unreachable')
  expect((await docker.machine()).folder).toBe(folder)
})

test('a stream that breaks off says that the engine went away', async () => {
  const host = await fakeEngine(({ socket }) => {
    socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n')
    setTimeout(() => socket.destroy(), 20)
  })
  const seen: string[] = []
  const read = async () => {
    const stream = connectEngine(host).stream('GET', '/events')
    for await (const chunk of stream) seen.push(Buffer.from(chunk).toString())
  }
  const failure = await failureOf(read())
  expect(failure.message).toContain('the connection broke')
  expect(seen).toEqual(['hi'])
})

test('leaving the loop over a stream closes its socket', async () => {
  const closed = Promise.withResolvers<void>()
  const host = await fakeEngine(({ socket }) => {
    socket.on('close', () => closed.resolve())
    socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n')
  })
  for await (const _ of connectEngine(host).stream('GET', '/events')) break
  await closed.promise
})
