import { expect, test } from 'bun:test'
import { engineLog } from '../../src/containers/engine-log.ts'
import { nothingHidden } from '../../src/logs/masks.ts'

test('what is read for a file shows that it goes on, also while no line passes', async () => {
  const lineOf = (text: string) => ({
    ...{ stream: 'stdout' as const, timestamp: '2026-11-20T03:00:00.000000000Z', text },
  })
  async function* containerLogs() {
    for (const text of ['first', 'second', 'wanted']) yield [lineOf(text)]
  }
  const engine = { docker: { containerLogs }, feed: {} } as never
  const log = engineLog(engine, 'a container', async () => nothingHidden)
  const { signal } = new AbortController()
  const batches = await Array.fromAsync(log.each({ search: 'wanted', signal }))
  expect(batches.map((lines) => lines.map(({ text }) => text))).toEqual([[], [], ['wanted']])
})
