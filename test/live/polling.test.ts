import { Glob } from 'bun'
import { expect, test } from 'bun:test'
import { join } from 'node:path'

test('no page asks again by a timer: its stream says when something changed', async () => {
  const source = join(import.meta.dir, '../../src')
  const polling: string[] = []
  for (const file of new Glob('**/*.tsx').scanSync(source))
    if (/hx-trigger=[^\n]*\bevery \S/.test(await Bun.file(join(source, file)).text()))
      polling.push(file)
  expect(polling).toEqual([])
})
