import { expect, test } from 'bun:test'
import { aLiveEnvironment } from './runs.ts'

test('a run that no one attaches to within a minute fails, and leaves nothing', async () => {
  const { start, ended, containers } = await aLiveEnvironment()
  const { status, exitCode, error } = await ended(await start('sh', { attach: true }))
  expect([status, exitCode, error.code]).toEqual(['failed', null, 'not_attached'])
  expect(error.message).toBe('Run failed: no one attached to it within 60 s.')
  expect(await containers()).toEqual([])
})
