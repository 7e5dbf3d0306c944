import { expect, test } from 'bun:test'
import { backupsUnderWrites } from './backups.ts'

test('a backup of a Davit that is written to is whole each time', async () => {
  expect(await backupsUnderWrites({ rounds: 2 })).toMatchObject({ bad: 0, rounds: 2 })
})
