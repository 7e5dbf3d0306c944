import { describe, expect, test } from 'bun:test'
import { connect } from 'node:net'
import { github } from '../../src/webhooks/github.ts'
import { receive } from '../../src/webhooks/receive.ts'
import type { Provider } from '../../src/webhooks/provider.ts'
import { BodyReader } from '../../src/webhooks/body.ts'
import { factory } from '../../src/web/factory.ts'
import { answerError } from '../../src/web/failures.tsx'
import { watchLoop } from '../support/watch-loop.ts'
import { aProject, aPush, aReceiver, inbox, post, secret, sent } from './senders.ts'
import type { Delivery, Receiver } from './senders.ts'

const mib = 1024 * 1024
const foreign = 'not the secret of any project'
const unsigned = 'The signature is missing or invalid.'

/** GitHub as it is, and how many secrets were tried. */
function counting() {
  const tried: string[] = []
  const provider: Provider = {
    ...github,
    isSignedWith: async (secret) => tried.push(secret) < 0,
  }
  return { provider, tried }
}

const tryOut = (t: Receiver, provider: Provider, { headers, body }: Delivery) =>
  receive(t.deps, provider, {
    received: { headers: new Headers(headers), body: Buffer.from(body as string), now: Date.now() },
    mediaType: 'application/json',
  }).then(
    () => null,
    (error) => error.message,
  )

const large = (key: string) => sent.github(aPush({ padding: 'x'.repeat(20 * mib) }), { key })

describe('a delivery that no one has signed', () => {
  test('of 20 MiB for 60 projects lets everyone else go on', async () => {
    const t = aReceiver()
    for (let n = 0; n < 60; n++) await aProject(t.owner, { webhookSecret: `${secret} of ${n}` })
    const delivery = large(foreign)
    let status = 0
    const { turns } = await watchLoop(async () => (status = (await post(t, delivery)).status))
    expect(status).toBe(401)
    expect(turns).toBeGreaterThan(20) // in slices of some milliseconds; a handful without them
  })

  test('is tried with a secret once, however many projects share it', async () => {
    const t = aReceiver()
    for (let n = 0; n < 10; n++) await aProject(t.owner)
    await aProject(t.owner, { webhookSecret: 'another secret of 16' })
    const { provider, tried } = counting()
    expect(await tryOut(t, provider, sent.github(aPush()))).toBe(unsigned)
    expect(tried.sort()).toEqual(['another secret of 16', secret])
  })

  test('is tried with no more secrets than it may cost', async () => {
    const t = aReceiver()
    for (let n = 0; n < 30; n++) await aProject(t.owner, { webhookSecret: `${secret} of ${n}` })
    const { provider, tried } = counting()
    expect(await tryOut(t, provider, large(foreign))).toBe(unsigned)
    expect(tried.length).toBe(13) // of 20 MiB each: 256 MiB and what was begun
  })

  test('is kept by 20 projects at most', async () => {
    const t = aReceiver()
    const projects = []
    for (let n = 0; n < 30; n++) projects.push(await aProject(t.owner))
    await post(t, sent.github(aPush(), { key: foreign }))
    expect(projects.filter(({ id }) => inbox(t, id).length > 0)).toHaveLength(20)
  })
})

test('a repository that is longer than any is not read, nor are more commits than any push has', async () => {
  const t = aReceiver()
  await aProject(t.owner)
  const repository = { ...aPush().repository, padding: 'x'.repeat(70_000) }
  const long = await post(t, sent.github(aPush({ repository }), { key: foreign }))
  expect(long.status).toBe(400)
  const commits = Array(100_000).fill({})
  const { status, json } = await post(t, sent.github(aPush({ commits })))
  expect(status).toBe(202)
  expect(json.deployments).toHaveLength(1)
})

test('projects of others do not crowd out the one whose secret signed', async () => {
  const t = aReceiver()
  const own = await aProject(t.owner)
  const mallory = t.logIn('mallory@example.com')
  for (let n = 0; n < 30; n++) await aProject(mallory, { webhookSecret: `${secret} of ${n}` })
  const { status, json } = await post(t, large(secret))
  expect(status).toBe(202)
  expect(json.deployments).toMatchObject([{ projectId: own.id }])
})

test('projects that share the secret of a delivery all get it', async () => {
  const t = aReceiver()
  const ids = [(await aProject(t.owner)).id, (await aProject(t.owner)).id].sort()
  await aProject(t.logIn('bob@example.com'), { webhookSecret: 'another secret of 16' })
  const { json } = await post(t, sent.github(aPush()))
  const deployed = json.deployments.map(({ projectId }: { projectId: string }) => projectId)
  expect(deployed.sort()).toEqual(ids)
})

test('a project that is deleted while its delivery is checked is passed over', async () => {
  const t = aReceiver()
  const { id } = await aProject(t.owner)
  const provider: Provider = {
    ...github,
    async isSignedWith(...args) {
      t.db.$client.run('DELETE FROM projects WHERE id = ?', [id])
      return github.isSignedWith(...args)
    },
  }
  expect(await tryOut(t, provider, sent.github(aPush()))).toBeNull()
})

describe('bodies that come at the same time', () => {
  /** A server that reads bodies and holds each until it is told to go on. */
  function aServer() {
    const bodies = new BodyReader()
    const held: { size: number; goOn: () => void }[] = []
    const app = factory
      .createApp()
      .use(async (c, next) => {
        c.set('address', c.req.header('X-Sender')!)
        await next()
      })
      .post('/', async (c) => {
        const signal = AbortSignal.timeout(Number(c.req.header('X-Patience') ?? 60_000))
        const size = await bodies.read(c, { signal }, async ({ length }) => {
          await new Promise<void>((resolve) => held.push({ size: length, goOn: resolve }))
          return length
        })
        return c.text(String(size))
      })
    app.onError(answerError)
    const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: (r) => app.fetch(r) })
    const send = (sender: string, size: number, headers: Record<string, string> = {}) =>
      fetch(server.url, {
        method: 'POST',
        headers: { 'X-Sender': sender, ...headers },
        body: new Uint8Array(size),
      })
    const until = async (count: number) => {
      while (held.length < count) await Bun.sleep(5)
    }
    return { server, held, send, until }
  }

  test('are large one at a time for each sender, and small without waiting', async () => {
    const { server, held, send, until } = aServer()
    const answers = [send('1.1.1.1', 2 * mib), send('1.1.1.1', 3 * mib), send('2.2.2.2', 4 * mib)]
    answers.push(send('1.1.1.1', 1000))
    await until(3)
    await Bun.sleep(50)
    expect(held.map(({ size }) => size).sort()).toEqual([1000, 2 * mib, 4 * mib])
    for (const { goOn } of held.splice(0)) goOn()
    await until(1)
    expect(held[0]!.size).toBe(3 * mib)
    held[0]!.goOn()
    for (const answer of answers) expect((await answer).status).toBe(200)
    await server.stop(true)
  })

  test('wait for their place, and are told to come again when there is none', async () => {
    const { server, held, send, until } = aServer()
    const first = send('1.1.1.1', 24 * mib)
    await until(1)
    const small = send('2.2.2.2', 8 * mib)
    await until(2)
    const late = await send('3.3.3.3', 8 * mib, { 'X-Patience': '200' })
    expect(late.status).toBe(503)
    expect(late.headers.get('Retry-After')).toBe('10')
    for (const { goOn } of held.splice(0)) goOn()
    expect([(await first).status, (await small).status]).toEqual([200, 200])
    const next = send('3.3.3.3', 25 * mib)
    await until(1)
    held[0]!.goOn()
    expect((await next).status).toBe(200)
    await server.stop(true)
  })

  test('are not waited for by others when one comes slowly', async () => {
    const { server, held, send, until } = aServer()
    const slow = connect(server.port!, '127.0.0.1')
    slow.on('error', () => {})
    const head = ['POST / HTTP/1.1', 'Host: x', 'X-Sender: 1.1.1.1', 'Transfer-Encoding: chunked']
    slow.write(`${head.join('\r\n')}\r\n\r\n200000\r\n${'x'.repeat(0x200000)}\r\n`)
    const other = send('2.2.2.2', 6 * mib)
    await until(1)
    held[0]!.goOn()
    expect((await other).status).toBe(200)
    slow.destroy()
    await server.stop(true)
  })
})
