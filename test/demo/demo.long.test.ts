import { expect, test } from 'bun:test'
import { join } from 'node:path'

test('the demo deploys, deploys a change, and rolls back', async () => {
  const demo = Bun.spawn([process.execPath, 'test/demo/main.ts', '--once'], {
    cwd: join(import.meta.dir, '../..'),
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [output, errors] = await Promise.all([demo.stdout.text(), demo.stderr.text()])
  expect(errors).toBe('')
  expect(await demo.exited).toBe(0)
  const said = [...output.matchAll(/^✓ http\S+ says “(\w+)”$/gm)].map(([, greeting]) => greeting)
  expect(said).toEqual(['Hello', 'Ahoy', 'Hello'])
}, 60_000)
