import { describe, expect, onTestFinished, test } from 'bun:test'
import type { ProviderError } from '../../../src/git/providers/provider-error.ts'
import { readAnswer } from '../../../src/git/providers/read-answer.ts'
import type { Shape } from '../../../src/git/providers/read-answer.ts'
import { providers } from '../../../src/git/providers/registry.ts'
import { until } from '../../support/until.ts'
import { watchLoop } from '../../support/watch-loop.ts'

const shape: Shape = {
  items: {
    properties: {
      name: {},
      branch: { anyOf: [{}, {}] },
      commit: { properties: { sha: {} } },
    },
  },
}
const read = (value: unknown) => readAnswer(JSON.stringify(value), shape)

describe('of an answer only what is looked for is read', () => {
  test('and nothing beside it', () => {
    const item = { name: 'main', branch: null, commit: { sha: 'a', tree: {} }, owner: { id: 1 } }
    expect(read([item])).toEqual([{ name: 'main', branch: null, commit: { sha: 'a' } }])
    expect(read([{ constructor: 1 }])).toEqual([{}])
    expect(readAnswer('{"__proto__":{"name":"x"}}', shape.items!)).toEqual({})
    expect(readAnswer('', shape)).toBeNull()
    expect(readAnswer('{"any":"thing"}', {})).toBeNull()
  })

  test.each([
    ['more items than a page has', Array.from({ length: 1001 }, () => ({ name: 'x' })), null],
    ['a list for an object', [[1]], [null]],
    ['an object for a text', [{ name: { deep: {} } }], [{ name: null }]],
    ['a text longer than any name', [{ name: 'x'.repeat(2001) }], [{ name: null }]],
  ])('but not %s', (_, value, expected) => expect(read(value)).toEqual(expected))

  test('but not what is no JSON, or is nested deeper than the stack', () => {
    expect(readAnswer('{', shape)).toBeUndefined()
    expect(readAnswer('['.repeat(1_000_000), shape)).toBeUndefined()
  })
})

describe('an API that is none', () => {
  function anApi(answer: (page: number) => string) {
    const server = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch: (request) =>
        new Response(answer(Number(new URL(request.url).searchParams.get('page') ?? 1)), {
          headers: { 'X-Total-Count': '1000000000' },
        }),
    })
    onTestFinished(() => void server.stop(true))
    const signal = new AbortController().signal
    return { baseUrl: server.url.href, token: 'x', allow: ['127.0.0.1'], signal, timeout: 60_000 }
  }
  const branches = (access: ReturnType<typeof anApi>) =>
    providers.gitea.listBranches(access, { repository: 'ada/app' }).catch((error) => error)

  test('lets everyone else go on while its answers are read', async () => {
    const members = Array.from({ length: 150_000 }, (_, n) => `"k${n}":[]`).join(',')
    const text = `{${members}}`
    const ratios: number[] = []
    for (let n = 0; n < 3; n++) {
      const from = performance.now()
      JSON.parse(text)
      const parsing = performance.now() - from
      let error: ProviderError | undefined
      const { longest } = await watchLoop(async () => (error = await branches(anApi(() => text))))
      expect(error!.reason).toBe('stranger')
      ratios.push(longest / parsing)
    }
    expect(Math.min(...ratios)).toBeLessThan(1) // the best of three, because others use the machine
  })

  test('is refused where an answer is larger than a page is', async () => {
    const error = await branches(anApi(() => 'x'.repeat(2.1 * 1024 * 1024)))
    expect(error.message).toContain('sent more than Davit accepts')
  })

  test('with a list that does not end is cut', async () => {
    const page = (page: number) =>
      JSON.stringify(
        Array.from({ length: 100 }, (_, n) => ({ name: `b-${page}-${n}`, commit: { id: 'a' } })),
      )
    const { items, truncated } = await branches(anApi(page))
    expect(truncated).toBe(true)
    expect(items.length).toBeWithin(20_000, 20_601)
    const long = (page: number) =>
      JSON.stringify(
        Array.from({ length: 100 }, (_, n) => ({
          name: `${page}-${n}-${'x'.repeat(1900)}`,
          commit: { id: 'a' },
        })),
      )
    expect((await branches(anApi(long))).items.length).toBeLessThan(2000)
  })
})

test('a provider that is silent holds eight requests of its user at once, and none of others', async () => {
  const over = new AbortController()
  let held = 0
  const eighth = Promise.withResolvers<void>()
  const silent = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: () => (++held === 8 && eighth.resolve(), new Promise<Response>(() => {})),
  })
  const access = (ownerId: string) => ({
    ownerId,
    baseUrl: `http://127.0.0.1:${silent.port}`,
    token: 'x',
    allow: ['127.0.0.1'],
    signal: over.signal,
  })
  const ask = (ownerId: string) => providers.gitea.whoIs(access(ownerId)).catch(() => null)
  const asked = Array.from({ length: 20 }, () => ask('eve'))
  await eighth.promise
  const before = held
  asked.push(ask('ada'))
  await until(() => held === before + 2)
  expect(before).toBe(8)
  over.abort()
  await Promise.all(asked)
  silent.stop(true)
})
