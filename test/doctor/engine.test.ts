import { expect, test } from 'bun:test'
import { checkEngine } from '../../src/doctor/engine.ts'
import { sandbox } from '../docker/sandbox.ts'

const { docker, run, options } = sandbox()

test('the doctor reports what builds reach on the default bridge', async () => {
  const { name } = options()
  await run('sleep 999', { name })
  const found = (await checkEngine(docker)).find(({ what }) => what === 'bridge')!
  expect(found.is).toMatch(/^builds can reach \d+ containers? on the default bridge: /)
  expect(found.is).toContain(name)
  expect(found.todo).toContain('networks of their own')
})
