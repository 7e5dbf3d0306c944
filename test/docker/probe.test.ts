import { createServer } from 'node:net'
import { expect, onTestFinished, test } from 'bun:test'
import { waitUntilAnswers } from '../../src/docker/index.ts'
import { sandbox } from './sandbox.ts'

const { docker, run } = sandbox()

const address = '127.0.0.1'

function serve(answer: (request: Request) => Response) {
  const server = Bun.serve({ hostname: address, port: 0, fetch: answer })
  onTestFinished(() => server.stop(true))
  return server.port!
}

function listen(onConnection: Parameters<typeof createServer>[1]) {
  const server = createServer({}, onConnection).listen(0, address)
  onTestFinished(() => void server.close())
  return (server.address() as { port: number }).port
}

test('a container is probed on its own address, and soon after it listens', async () => {
  const id = await run('sleep 0.3; mkdir /www; echo hi > /www/index.html; httpd -f -p 8080 -h /www')
  const { addresses } = (await docker.inspectContainer(id))!
  const probe = { address: addresses.bridge!, port: 8080, timeout: 5_000 }
  const result = await waitUntilAnswers({ ...probe, path: '/' })
  expect(result).toMatchObject({ answered: true, lastSeen: 'status 200' })
  expect(await waitUntilAnswers({ ...probe, path: null })).toMatchObject({ answered: true })
})

test('a redirect counts and is not followed', async () => {
  const port = serve(() => Response.redirect('http://127.0.0.1:1/'))
  const result = await waitUntilAnswers({ address, port, path: '/', timeout: 1_000 })
  expect(result).toMatchObject({ answered: true, lastSeen: 'status 302' })
})

test('an app that checks the host is asked for the given one, else for localhost', async () => {
  const hosts: (string | null)[] = []
  const port = serve(({ headers }) => {
    hosts.push(headers.get('Host'))
    return new Response()
  })
  const probe = { address, port, path: '/', timeout: 1_000 }
  await waitUntilAnswers(probe)
  await waitUntilAnswers({ ...probe, host: 'app.example.com' })
  expect(hosts).toEqual(['localhost', 'app.example.com'])
})

test('an error is asked again until it is none', async () => {
  let asked = 0
  const port = serve(() => new Response('', { status: ++asked < 4 ? 503 : 204 }))
  const result = await waitUntilAnswers({ address, port, path: '/', timeout: 2_000 })
  expect(result).toMatchObject({ answered: true, lastSeen: 'status 204' })
  expect(asked).toBe(4)
})

test.each([
  ['status 500', () => serve(() => new Response('', { status: 500 }))],
  ['connection refused', () => 1],
  ['connection closed without a response', () => listen((socket) => socket.destroy())],
  ['a response that isn’t HTTP', () => listen((socket) => socket.end('SSH-2.0-x\r\n'))],
  ['no response', () => listen(() => {})],
])('time runs out on: %s', async (lastSeen, open) => {
  const result = await waitUntilAnswers({ address, port: open(), path: '/', timeout: 150 })
  expect(result).toMatchObject({ answered: false, lastSeen })
  expect(result.milliseconds).toBeGreaterThan(75) // a timer counts from when its loop last looked at the clock
})

test('aborting ends the wait at once', async () => {
  const signal = AbortSignal.timeout(50)
  const wait = waitUntilAnswers({ address, port: 1, path: null, timeout: 60_000, signal })
  expect(await wait.catch((error) => error.name)).toBe('TimeoutError')
})
