import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { connectDocker } from '../../src/docker/index.ts'
import { knownFaults, judgeFaults } from '../../src/doctor/engine.ts'

const cases: [version: string, runc: string | null, faults: string[]][] = [
  ['28.5.2', '1.3.3', []],
  ['29.0.0', null, []],
  ['20.10.9', '1.3.3', ['20.10.10', '24.0.9 or 25.0.2']],
  ['24.0.9', '1.2.8', []],
  ['25.0.1', '1.3.3', ['24.0.9 or 25.0.2']],
  ['25.0.2', '1.1.11', ['1.1.12', '1.2.8 or 1.3.3']],
  ['27.0.2', '1.3.4', ['27.0.3']],
  ['28.0.0', '1.3.3', ['28.0.1']],
  ['28.3.2', '1.3.2', ['28.3.3', '1.2.8 or 1.3.3']],
  ['28.3.3', '1.4.0', []],
  // those that distributions build
  ['20.10.5+dfsg1', '1.0.0~rc93+ds1', []],
  ['24.0.7', '1.1.7-0ubuntu1~22.04.2', []],
]

test.each(cases)('Docker %s with runc %s has the faults that were fixed in %j', (...given) => {
  const [version, runc, fixed] = given
  const found = judgeFaults({ version, runc }).flatMap(({ todo }) => todo ?? [])
  expect(found.map((todo) => /(?:to|runc) (\d.*) or newer/.exec(todo)![1]!)).toEqual(fixed)
})

test('what an engine reports of itself can be judged', async () => {
  const info = await connectDocker().info()
  expect(info.runc).toMatch(/^\d+\.\d+/)
  expect(judgeFaults(info)[0]!.is).toContain(info.version)
})

test('each fault is documented with its source', async () => {
  const page = await Bun.file(join(import.meta.dir, '../../assets/docs/maintenance.md')).text()
  for (const { part, fixedIn, source } of knownFaults) {
    const row = page.split('\n').find((line) => line.includes(source))
    expect(row ?? source).toContain(`| ${part}`)
    expect(row).toContain(` ${fixedIn} `)
  }
})
