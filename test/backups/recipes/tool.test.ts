import { expect, test } from 'bun:test'
import { Writable } from 'node:stream'
import { runTool, splitHead } from '../../../src/backups/recipes/tool.ts'
import { EngineError } from '../../../src/docker/index.ts'

/** What is read of bytes that arrive in chunks of a size, and what is passed on. */
async function split(text: string, size: number) {
  const bytes = Buffer.from(text)
  const passed: Buffer[] = []
  const to = new Writable({
    write(chunk, _, done) {
      passed.push(Buffer.from(chunk))
      done()
    },
  })
  async function* from() {
    for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
  }
  const head = await splitHead(from(), { to, signal: new AbortController().signal })
  return { head, data: Buffer.concat(passed).toString() }
}

test('counts are split from the data after them, in chunks of any size', async () => {
  const text = '["größe",1]\n["b\\n\\n",2]\n\nPGDMP\n\n\n["not a count",3]\n'
  for (let size = 1; size < text.length + 4; size++)
    expect(await split(text, size)).toEqual({
      head: [
        ['größe', 1],
        ['b\n\n', 2],
      ],
      data: 'PGDMP\n\n\n["not a count",3]\n',
    })
  expect(await split('\n\ndata', 1)).toEqual({ head: [], data: 'data' })
  expect(await split('["a",1]\n\n', 3)).toEqual({ head: [['a', 1]], data: '' })
  // a tool that failed while it counted
  expect(await split('["a",1]\n', 3)).toEqual({ head: [], data: '' })
})

test('a tool that needs too much memory says nothing of the data', async () => {
  const deps = { docker: { inspectContainer: async () => ({ state: 'running' }) } } as never
  const source = { component: 'db', engine: 'postgresql', env: {} } as const
  const end = (oomKilled: boolean) =>
    runTool(deps, {
      ...{ source, containerId: 'one', ownerId: 'ada', script: 'pg_restore' },
      tools: { run: async () => ({ exitCode: 137, oomKilled, stderr: 'no such type' }) } as never,
      signal: new AbortController().signal,
    })
  await expect(end(true)).rejects.toMatchObject({ code: 'dump_memory' })
  await expect(end(false)).rejects.toMatchObject({ code: 'dump_failed' })
})

test.each([
  ['runs on', [{ state: 'running', startedAt: new Date(1) }], { status: 400 }],
  ['has ended', [{ state: 'restarting', startedAt: new Date(1) }], { code: 'dump_not_running' }],
  ['was restarted', [{ state: 'running', startedAt: new Date(2) }], { code: 'dump_away' }],
])(
  'a tool that the engine can’t start is told of by its server where that %s',
  async (_, now, told) => {
    const seen = [{ state: 'running', startedAt: new Date(1) }, ...now]
    const refused = () => Promise.reject(new EngineError(400, 'namespace path: no such file'))
    const run = runTool({ docker: { inspectContainer: async () => seen.shift() } } as never, {
      ...{ source: { component: 'db', engine: 'postgresql', env: {} }, containerId: 'one' },
      ...{ ownerId: 'ada', script: 'pg_restore', tools: { run: refused } as never },
      signal: new AbortController().signal,
    })
    await expect(run).rejects.toMatchObject(told)
  },
)
