import { expect, test } from 'bun:test'
import { aDavit, isWell, later } from './watched.ts'

test('a Davit that works, or was stopped for a while as a machine is, stays', async () => {
  const davit = await aDavit(later)
  process.kill(davit.pid, 'SIGSTOP')
  await Bun.sleep(5000)
  process.kill(davit.pid, 'SIGCONT')
  await Bun.sleep(4000)
  expect(await isWell(davit)).toBe(true)
  expect(await davit.log()).not.toContain('stood still')
  expect(await davit.stop()).toBe(0)
})
