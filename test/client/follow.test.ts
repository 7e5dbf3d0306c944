import { expect, onTestFinished, spyOn, test } from 'bun:test'
import { Server } from '../../src/client/call.ts'
import { follow } from '../../src/client/follow.ts'
import { sseEvent } from '../../src/web/sse.ts'

/** What is followed where a server gives these answers one after the other, eleven minutes apart. */
async function followed(answers: Response[]) {
  const { now } = performance
  let late = 0
  using _ = spyOn(performance, 'now').mockImplementation(() => now.call(performance) + late)
  const stub = Bun.serve({
    ...{ port: 0, hostname: '127.0.0.1' },
    fetch() {
      late += 11 * 60_000
      return answers.shift() ?? new Response(null, { status: 500 })
    },
  })
  onTestFinished(() => stub.stop(true))
  const server = new Server({ url: stub.url.origin, token: null })
  const { signal } = new AbortController()
  const texts: string[] = []
  for await (const { text } of follow(server, '/log', { signal })) texts.push(text)
  return texts
}

const stream = (...events: string[]) =>
  new Response(`: open\n\n${events.join('')}`, { headers: { 'Content-Type': 'text/event-stream' } })

const line = (id: number, text: string) =>
  sseEvent({ id, data: JSON.stringify({ seq: id, time: '', stream: 'stdout', text }) })

const done = sseEvent({ event: 'done', data: 'ended' })

test('a line is followed whatever line separators are in it', async () => {
  const texts = ['one', 'two \u2028 and \u2029', 'three']
  const lines = texts.map((text, at) => line(at + 1, text))
  expect(await followed([stream(...lines, done)])).toEqual(texts)
})

test('a quiet log is followed on through every short absence of the server', async () => {
  const away = () => new Response('', { status: 502 })
  const answers = [away(), stream(), away(), stream(line(1, 'at last'), done)]
  expect(await followed(answers)).toEqual(['at last'])
})

test('a proxy that only ever answers with nothing is given up after a while', async () => {
  const answers = Array.from({ length: 3 }, () => new Response('', { status: 200 }))
  await expect(followed(answers)).rejects.toMatchObject({ code: 'unavailable' })
  expect(answers.length).toBeGreaterThan(0)
})
