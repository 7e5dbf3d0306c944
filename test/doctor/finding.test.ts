import { expect, test } from 'bun:test'
import { runCheck } from '../../src/doctor/finding.ts'

test('a look at what never answers ends, and says so', async () => {
  const found = await runCheck('disk', () => new Promise(() => {}), { atMost: 20 })
  expect(found).toMatchObject([{ what: 'disk', is: 'no response within 0.02 seconds' }])
  expect(found[0]!.todo).toBeString()
})
