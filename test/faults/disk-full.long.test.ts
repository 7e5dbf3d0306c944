import { expect, test } from 'bun:test'
import { cancelOnFullDisk, deployOnFullDisk } from './disk-full-deploy.ts'
import { fillTheDisk } from './disk-full.ts'

test('on a full disk all is read, nothing is half written, and with room all goes on', async () => {
  expect((await fillTheDisk({ rounds: 1 })).bad).toBe(0)
})

test('a deployment whose disk fills up ends when that can be stored, and its log says what it lacks', async () => {
  const { meanwhile, status, code, log } = await deployOnFullDisk()
  expect(meanwhile).toBe('building')
  expect({ status, code }).toEqual({ status: 'failed', code: 'disk_full' })
  expect(log.map(({ seq }) => seq)).toEqual(log.map((_, at) => at + 1))
  expect(log.map(({ text }) => text).join('\n')).toMatch(
    /\d+ lines are missing here, because they couldn’t be stored/,
  )
})

test('a deployment that is cancelled because the disk is too full to store that it runs lets the old one serve', async () => {
  expect(await cancelOnFullDisk()).toEqual({
    meanwhile: true,
    before: 'deploying',
    after: 'cancelled',
    ofFirst: 'running',
    containers: 1,
  })
})
