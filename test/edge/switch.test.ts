import { expect, test } from 'bun:test'
import { until } from '../support/until.ts'
import { aHost, anEdge } from './caddy.ts'

const edge = await anEdge()

test('a switch loses no request, and none that comes after it reaches the old app', async () => {
  const apps = Array.from({ length: 20 }, (_, n) => edge.app(() => new Response(String(n))))
  edge.slots('app', apps[0]!)
  await edge.serve([aHost('app.test')])
  let now = 0
  const answers = apps.map(() => 0)
  const wrong: string[] = []
  const visit = async (keepalive: boolean) => {
    while (now < apps.length) {
      const least = now
      const response = await edge.get('http://app.test/', { keepalive }).catch(String)
      const text = typeof response === 'string' ? response : await response.text()
      if (Number(text) >= least) answers[Number(text)]!++
      else wrong.push(`${text} after the switch to ${least}`)
    }
  }
  const visitors = Array.from({ length: 8 }, (_, n) => visit(n % 2 === 0))
  for (; now < apps.length; now++) {
    edge.slots('app', apps[now]!)
    await until(() => answers[now]! >= 20 || wrong.length > 0)
  }
  await Promise.all(visitors)
  expect(wrong).toEqual([])
})

test('what began before a switch ends where it began', async () => {
  for (let n = 0; n < 40; n++) {
    const { promise, resolve } = Promise.withResolvers<void>()
    const slow = edge.app(async (request) => {
      const sent = await request.text()
      const body = async function* () {
        yield 'the old '
        await promise
        yield sent
      }
      return new Response(body() as unknown as ReadableStream)
    })
    edge.slots('app', slow)
    await edge.serve([aHost('app.test')])
    const response = await edge.get('http://app.test/', { method: 'POST', body: 'app' })
    edge.slots(
      'app',
      edge.app(() => new Response('the new app')),
    )
    expect(await (await edge.get('http://app.test/')).text()).toBe('the new app')
    resolve()
    expect(await response.text()).toBe('the old app')
  }
})
