import { expect, test } from 'bun:test'
import { chmodSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { openDatabase } from '../../src/db/index.ts'
import { openInstallation } from '../../src/db/installation.ts'
import { checkData } from '../../src/doctor/data.ts'
import { openSecrets } from '../../src/platform/secrets.ts'
import { aFolder } from '../support/folder.ts'

function aDataDir() {
  const dataDir = aFolder()
  const place = { dataDir, secretKey: null, edge: 'direct' as const }
  const secrets = openSecrets(place)
  const db = openDatabase(join(dataDir, 'davit.db'))
  openInstallation(db, secrets)
  db.$client.close()
  return place
}

/** What is well, and what is to be done. */
async function found(place: ReturnType<typeof aDataDir>) {
  const findings = await checkData(place)
  return Object.fromEntries(findings.map(({ what, todo }) => [what, todo ?? 'ok']))
}

test('a key that is missing hides nothing else', async () => {
  const place = aDataDir()
  const well = { data: 'ok', database: 'ok', key: 'ok', schema: 'ok', time: 'ok' }
  expect(await found(place)).toEqual(well)
  rmSync(join(place.dataDir, 'secret.key'))
  expect(await found(place)).toEqual({ ...well, key: expect.stringContaining('Restore it') })
})

test('a key that others can read is told, and how to take that away', async () => {
  const place = aDataDir()
  const path = join(place.dataDir, 'secret.key')
  chmodSync(path, 0o644)
  expect(await found(place)).toMatchObject({ key: `Restrict it: chmod 600 ${path}` })
})
