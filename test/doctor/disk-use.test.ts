import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { parseConfig } from '../../src/config.ts'
import { openDatabase, openLogDatabase } from '../../src/db/index.ts'
import { openInstallation } from '../../src/db/installation.ts'
import { connectDocker } from '../../src/docker/index.ts'
import { checkDiskUse, growthOf, judgeGrowth } from '../../src/doctor/disk-use.ts'
import { saveBlock } from '../../src/logs/store.ts'
import { openSecrets } from '../../src/platform/secrets.ts'
import { aFolder } from '../support/folder.ts'

const day = 86_400_000
const mebibyte = 2 ** 20
const now = Date.now()

test('what fills the disk is listed, and how fast once there is history', async () => {
  const dataDir = aFolder()
  const secrets = openSecrets({ dataDir, secretKey: null })
  const db = openDatabase(join(dataDir, 'davit.db'))
  openInstallation(db, secrets)
  const logDb = openLogDatabase(join(dataDir, 'logs.db'))
  const find = () => checkDiskUse(parseConfig({ DAVIT_DATA_DIR: dataDir }), connectDocker())
  const store = (first: number, { age, size }: { age: number; size: number }) =>
    saveBlock(logDb, {
      ...{ id: null, sourceId: 'a', logId: '', first, last: first },
      ...{ firstTime: now - age, lastTime: now - age, data: Buffer.alloc(size) },
    })

  store(1, { age: day, size: 2 * mebibyte })
  const [use, ...others] = await find()
  expect(use).toMatchObject({ what: 'use', todo: null })
  const shares = ['images', 'containers', 'volumes', 'build cache', 'logs', 'database']
  for (const share of shares) expect(use!.is).toMatch(new RegExp(`${share} [\\d.]+ \\w*B`))
  expect(others).toEqual([])
  store(2, { age: 9 * day, size: mebibyte })
  expect(await find()).toMatchObject([
    { what: 'use' },
    {
      what: 'growth',
      is: expect.stringMatching(/^in 7 days images grew by 0 B, logs by 2.0 MiB/),
      todo: null,
    },
  ])
})

test('the images of the last week count with what they don’t share', () => {
  const image = { size: 100, sharedSize: 60 }
  const images = [1, 3, 20].map((age) => ({ ...image, createdAt: new Date(now - age * day) }))
  const logs = { bytes: 7, oldest: null }
  expect(growthOf({ images, logs, now })).toEqual({ images: 80, logs: 7, time: 7 * day })
  expect(growthOf({ images: images.slice(0, 2), logs, now })?.time).toBe(3 * day)
  expect(growthOf({ images: images.slice(0, 1), logs, now })).toBeNull()
})

test('a disk that could soon be full is a finding, unless it is cleaned up daily', () => {
  const growth = { images: 60 * mebibyte, logs: 10 * mebibyte, time: 7 * day }
  const soon = judgeGrowth(growth, { free: 100 * mebibyte, isCleaned: false })
  expect(soon).toEqual({
    what: 'growth',
    is: 'in 7 days images grew by 60.0 MiB, logs by 10.0 MiB: at that rate the disk is full in 10 days at the earliest',
    todo: expect.stringContaining('daily clean-up'),
  })
  expect(judgeGrowth(growth, { free: 100 * mebibyte, isCleaned: true })).toEqual({
    ...soon,
    todo: null,
  })
  expect(judgeGrowth(growth, { free: 200 * mebibyte, isCleaned: false })).toMatchObject({
    is: expect.stringContaining('in 20 days'),
    todo: null,
  })
  const plenty = judgeGrowth(growth, { free: 2 ** 40, isCleaned: false })
  expect(plenty.is).toEndWith('for more than a year')
  const elsewhere = judgeGrowth(growth, { free: null, isCleaned: false })
  expect(elsewhere.is).toBe('in 7 days images grew by 60.0 MiB, logs by 10.0 MiB')
})
