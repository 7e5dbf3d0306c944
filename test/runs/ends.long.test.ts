import { expect, test } from 'bun:test'
import { aLiveEnvironment } from './runs.ts'

test('a command that writes as fast as it can holds nothing up, and ends when its time is over', async () => {
  const { ada, path, start, ended, containers, logDb } = await aLiveEnvironment()
  const run = await start('yes flood', { timeout: 8 })
  const end = ended(run)
  for (let over = false; !over;) {
    expect((await ada.get(`${path}/${run.id}`)).status).toBe(200)
    over = await Promise.race([end.then(() => true), Bun.sleep(100).then(() => false)])
  }
  expect(await end).toMatchObject({ status: 'failed', error: { code: 'timeout' } })
  expect(await containers()).toEqual([])
  const { last } = logDb.$client
    .query<{ last: number }, []>('SELECT max(last) AS last FROM output_blocks')
    .get()!
  expect(last).toBeGreaterThan(1000)
  expect(last).toBeLessThan(1_020_000)
})

test('a run that no one attaches to within a minute fails, and leaves nothing', async () => {
  const { start, ended, containers } = await aLiveEnvironment()
  const { status, exitCode, error } = await ended(await start('sh', { attach: true }))
  expect([status, exitCode, error.code]).toEqual(['failed', null, 'not_attached'])
  expect(error.message).toBe('Run failed: no one attached to it within 60 s.')
  expect(await containers()).toEqual([])
})
