import { expect, test } from 'bun:test'
import { factory } from '../../src/web/factory.ts'
import { textFile } from '../../src/web/text-file.ts'

test('a file goes on for as long as pieces come, also those in which nothing is', async () => {
  const pieces = ['first\n', '', '', '', 'last\n']
  const app = factory.createApp()
  app.get('/', (c) =>
    textFile(c, { name: 'app.log', pieces: pieces.values() as Generator<string> }),
  )
  let renewals = 0
  const server = { timeout: () => void renewals++ }
  const response = await app.request('/', {}, { server } as never)
  expect(await response.text()).toBe('first\nlast\n')
  expect(renewals).toBeGreaterThanOrEqual(pieces.length)
})
