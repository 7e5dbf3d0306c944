import { expect, test } from 'bun:test'
import { writeOutput } from './writing.ts'
import { testApp, withAda } from '../support/app.ts'
import { allLines, anEnvironment } from './collecting.ts'

test('ten thousand lines of 16 KiB are answered in parts', async () => {
  const { t, ada } = withAda(testApp())
  const { id, output } = await anEnvironment(t, ada)
  const text = 'x'.repeat(16_384)
  for (let batch = 0; batch < 15; batch++)
    writeOutput(
      t,
      { sourceId: id },
      Array.from({ length: 100 }, () => ({ time: 0, stream: 'stdout' as const, text })),
    )
  const part = await ada.get(`${output}?limit=10000`)
  expect(part.json.items).toHaveLength(64)
  expect(part.json.nextCursor).toBe('64')
  const last = await ada.get(`${output}?limit=10000&before=1501`)
  expect(last.json.items.map(({ seq }: { seq: number }) => seq)).toEqual(
    Array.from({ length: 64 }, (_, n) => 1437 + n),
  )
  expect(await allLines(ada, output)).toHaveLength(1500)
  const response = await ada.send(`${output}?download=1`)
  expect((await response.text()).split('\n')).toHaveLength(1501)
})
