import { expect, test } from 'bun:test'
import { connectDocker, EngineFeed, resync } from '../../src/docker/index.ts'
import { Failure } from '../../src/platform/errors.ts'
import { fakeEngine } from './fake-engine.ts'
import { sandbox } from './sandbox.ts'

const { docker, run } = sandbox()

/** Runs a feed for as long as the work takes, and hands over what is heard of it. */
async function withFeed(
  source: Parameters<EngineFeed['run']>[0],
  work: (heard: ReturnType<EngineFeed['listen']>) => Promise<void>,
  options: { maxDelay?: number } = {},
) {
  const controller = new AbortController()
  const feed = new EngineFeed()
  const heard = feed.listen(controller.signal)
  await heard.next()
  const running = feed.run(source, { signal: controller.signal, ...options })
  await work(heard)
  controller.abort()
  await running
}

async function next(heard: ReturnType<EngineFeed['listen']>) {
  const { value } = await heard.next()
  return value === resync ? 'look again' : `${value!.id} ${value!.action}`
}

test('after a broken connection nothing is missed, and nothing is told twice', async () => {
  const start = Math.floor(Date.now() / 1000)
  const asked: number[] = []
  const lines: string[] = []
  const tell = (id: string, action: string, milliseconds: number) => {
    const timeNano = start * 1e9 + milliseconds * 1e6
    lines.push(JSON.stringify({ Type: 'container', Action: action, Actor: { ID: id }, timeNano }))
  }
  const host = await fakeEngine(({ line, socket }) => {
    if (!line.includes('/events')) return
    asked.push(Number(/since=([\d.]+)/.exec(line)![1]))
    socket.write('HTTP/1.1 200 OK\r\n\r\n')
    for (const sent of lines) socket.write(`${sent}\n`)
    if (asked.length === 1) {
      tell('a', 'start', 60_000)
      tell('b', 'start', 60_500)
      for (const sent of lines) socket.write(`${sent}\n`)
      lines.splice(0, 1) // the engine gives only what is not older
      tell('c', 'start', 60_500)
      tell('b', 'die', 60_500)
      socket.end()
    }
  })
  await withFeed(connectDocker({ host }), async (heard) => {
    const order = ['look again', 'a start', 'b start', 'look again', 'c start', 'b die']
    for (const expected of order) expect(await next(heard)).toBe(expected)
  })
  expect(asked[0]).toBeGreaterThanOrEqual(start)
  expect(asked[1]).toBeCloseTo(start + 60.5, 3)
})

test('what happened before the engine answered is heard', async () => {
  let id = ''
  const slow: typeof docker.events = async function* (options) {
    id = await run('true')
    await docker.waitForExit(id)
    yield* docker.events(options)
  }
  await withFeed({ events: slow }, async (heard) => {
    const seen: string[] = []
    while (!seen.includes(`${id} die`)) seen.push(await next(heard))
    expect(seen).toContain(`${id} start`)
  })
})

test('running out of memory and changes of health are heard', async () => {
  await withFeed(docker, async (heard) => {
    const test = ['CMD-SHELL', 'true']
    const sound = await run('sleep 60', { healthCheck: { test, interval: 200, timeout: 5_000 } })
    const eat = 'head -c 200m /dev/zero | tail -c 150m'
    const greedy = await run(`until test -e /go; do usleep 50000; done; ${eat}`)
    const go = { path: 'go', content: '', mode: 0o644 }
    await docker.putArchive(greedy, { path: '/', files: [go] }) // of one that ends as it starts the engine may hear nothing
    const wanted = new Set([`${sound} health_status: healthy`, `${greedy} oom`])
    while (wanted.size > 0) wanted.delete(await next(heard))
  })
})

test('while the engine is away no one is sent to look at it, and once it is back everyone is', async () => {
  let tries = 0
  const away: typeof docker.events = async function* (options) {
    if (++tries < 3) throw new Failure('engine_unreachable', 'The engine is away.', 'Start it.')
    yield* docker.events(options)
  }
  await withFeed({ events: away }, async (heard) => {
    expect(await next(heard)).toBe('look again')
    expect(tries).toBe(3)
  })
})

test('an engine that stays away is tried less and less often', async () => {
  const tries: number[] = []
  const away: typeof docker.events = async function* (options) {
    tries.push(performance.now())
    if (tries.length < 3) throw new Failure('engine_unreachable', 'It refuses.', 'Let it in.')
    yield* docker.events(options)
  }
  const looked = async (heard: ReturnType<EngineFeed['listen']>) => void (await next(heard))
  await withFeed({ events: away }, looked, { maxDelay: 30_000 })
  const [first, second, third] = tries as [number, number, number]
  expect(third - second).toBeGreaterThan(1.5 * (second - first))
})
