import { expect, test } from 'bun:test'
import { Database } from 'bun:sqlite'
import { copyFileSync, existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openDatabase } from '../../src/db/index.ts'
import { markInUse, clearInUse, refuseLostWal } from '../../src/db/wal-guard.ts'
import { aFolder } from '../support/folder.ts'

function aDatabase() {
  const directory = aFolder()
  const path = join(directory, 'davit.db')
  const { $client } = openDatabase(path)
  $client.run('PRAGMA wal_checkpoint(TRUNCATE)')
  $client.close()
  for (const end of ['-wal', '-shm']) rmSync(path + end, { force: true })
  return path
}

test('a database whose newest part was deleted is refused, until that is said to be meant', () => {
  const path = aDatabase()
  markInUse(path)
  writeFileSync(`${path}-wal`, '')
  refuseLostWal(path) // it crashed, and all is there

  rmSync(`${path}-wal`)
  expect(() => refuseLostWal(path)).toThrow('davit.db-wal, which holds the latest writes')
  rmSync(`${path}-in-use`)
  refuseLostWal(path)
})

test('after a clean shutdown, and with another file in its place, nothing is missed', () => {
  const path = aDatabase()
  markInUse(path)
  clearInUse(path)
  refuseLostWal(path)

  markInUse(path)
  copyFileSync(path, `${path}.copy`)
  renameSync(`${path}.copy`, path) // made while the other was there: certainly another file
  refuseLostWal(path)
})

test('a database that lost its tables is not taken for a new one', () => {
  const path = aDatabase()
  rmSync(path)
  new Database(path, { create: true }).run('PRAGMA user_version = 1')
  const before = readFileSync(path)
  expect(() => openDatabase(path)).toThrow('its tables are missing')
  expect(readFileSync(path).equals(before)).toBe(true)
})

test('nothing new is made beside what is left of a database', () => {
  const path = aDatabase()
  rmSync(path)
  writeFileSync(`${path}-wal`, 'what was written last')
  expect(() => openDatabase(path)).toThrow('it is missing')
  expect(existsSync(path)).toBe(false)
})

test('a first start that was killed is repeated', () => {
  const path = aDatabase()
  rmSync(path)
  writeFileSync(`${path}.new`, 'half of a database')
  openDatabase(path).$client.close()
  expect(existsSync(`${path}.new`)).toBe(false)
})
