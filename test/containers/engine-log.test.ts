import { expect, test } from 'bun:test'
import { engineLog } from '../../src/containers/engine-log.ts'
import { end } from '../../src/containers/log-line.ts'
import { nothingHidden } from '../../src/logs/masks.ts'

const { signal } = new AbortController()

/** The log of an engine that sends each line on its own. */
function logWith(texts: string[]) {
  const lines = texts.map((text, at) => ({
    ...{ stream: 'stdout' as const, text },
    timestamp: `2026-11-20T03:00:00.${String(at).padStart(6, '0')}000Z`,
  }))
  async function* containerLogs(_: string, { tail = lines.length }: { tail?: number }) {
    for (const line of tail === 0 ? [] : lines.slice(-tail)) yield [line]
  }
  const engine = { docker: { containerLogs }, feed: {} } as never
  return engineLog(engine, 'a container', async () => nothingHidden)
}

const textsOf = (lines: { text: string }[]) => lines.map(({ text }) => text)

test('what is read for a file shows that it goes on, also while no line passes', async () => {
  const log = logWith(['first', 'second', 'wanted'])
  const batches = await Array.fromAsync(log.each({ search: 'wanted', signal }))
  expect(batches.map(textsOf)).toEqual([[], [], ['wanted']])
})

test('the last lines that pass a filter are found among all, not only among the last', async () => {
  const log = logWith(['wanted 1', 'wanted 2', ...Array<string>(3000).fill('other')])
  const last = async (limit: number, search?: string) =>
    textsOf((await log.find({ before: end, limit, search, signal })).lines)
  expect(await last(9, 'wanted')).toEqual(['wanted 1', 'wanted 2'])
  expect(await last(1, 'wanted')).toEqual(['wanted 2'])
  expect(await last(0, 'wanted')).toEqual([])
  expect(await last(2)).toEqual(['other', 'other'])
})
