import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { ensureStandIns } from '../support/images/stand-ins.ts'
import { ensureEdgeImages } from '../support/machine.ts'

async function runDemo(...options: string[]) {
  const demo = Bun.spawn([process.execPath, 'test/demo/main.ts', '--once', ...options], {
    cwd: join(import.meta.dir, '../..'),
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [output, errors] = await Promise.all([demo.stdout.text(), demo.stderr.text()])
  expect(errors).toBe('')
  expect(await demo.exited).toBe(0)
  return output
}

test('the demo deploys, deploys a change and one that goes back, and rolls back, and no visitor notices', async () => {
  await ensureEdgeImages({ say: console.error })
  await ensureStandIns(['caddy:2.11-alpine'])
  const output = await runDemo()
  expect(output).toMatch(/^✓ It has no Dockerfile, and is recognised: Static files/m)
  const said = [...output.matchAll(/^✓ http\S+ says “(\w+)”$/gm)].map(([, greeting]) => greeting)
  expect(said).toEqual(['Hello', 'Ahoy', 'Hello'])
  expect(output).toMatch(/^✓ After the switch the app exited with code \d+\. Requests went back/m)
  expect(output).toMatch(/^✓ http\S+ says “Ahoy” again$/m)
  expect(output).toMatch(/^✓ http:\/\/hello\.davit\.localhost:\d+ says/m)
  expect(output).toMatch(/^✓ \d{3,} requests came meanwhile, \d failed$/m)
}, 120_000)

test('the demo of an app with its databases migrates, and brings back a table that was dropped', async () => {
  const output = await runDemo('--database')
  const applied = [...output.matchAll(/Applied (\w+)\.sql/g)].map(([, name]) => name)
  expect(applied).toEqual(['001_notes', '002_author'])
  expect(
    output.match(/^✓ http\S+ has the note “.*”, and the worker counted its \d words$/gm),
  ).toHaveLength(3)
  expect(output).toMatch(/^✓ PostgreSQL is backed up: \d+ tables, \d+ rows/m)
  expect(output).toMatch(/^✓ It is proven restorable: \d+ rows/m)
  expect(output).toMatch(/^✓ It is restored, .* the app has its 2 notes$/m)
  expect(output).toContain('✓ Everything that it made is removed.')
}, 400_000)
