import { afterEach, beforeEach, expect, test } from 'bun:test'
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { makeBackup } from '../../src/backup/make.ts'
import { restoreBackup } from '../../src/backup/restore.ts'
import { openDatabase } from '../../src/db/index.ts'
import { openInstallation } from '../../src/db/installation.ts'
import { asCaller, withRightsOf } from '../../src/platform/effective-user.ts'
import { openSecrets } from '../../src/platform/secrets.ts'

// Root backs up and restores what belongs to a user without following that user anywhere.

const isRoot = process.getuid!() === 0
const nobody = { name: 'nobody', uid: 65_534, gid: 65_534 }
const options = { passphrase: null, withLogs: false, force: false, settings: {} }
let root: string
let data: string
let config: { dataDir: string; secretKey: null }

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'davit-rights-'))
  chmodSync(root, 0o711)
  data = join(root, 'home/data')
  config = { dataDir: data, secretKey: null }
  for (const path of ['home', 'private']) mkdirSync(join(root, path), { mode: 0o700 })
  chownSync(join(root, 'home'), nobody.uid, nobody.gid)
  writeFileSync(join(root, 'private/key'), 'of root', { mode: 0o600 })
})
afterEach(() => rmSync(root, { recursive: true }))

const filled = () =>
  withRightsOf(nobody, () => {
    mkdirSync(data, { mode: 0o700 })
    const secrets = openSecrets(config)
    const db = openDatabase(join(data, 'davit.db'))
    openInstallation(db, secrets)
    db.$client.close()
  })
const ownersIn = (path: string) =>
  readdirSync(path, { recursive: true }).map((name) => statSync(join(path, String(name))).uid)

test.skipIf(!isRoot)('what is done with a user’s rights ends where that user’s do', async () => {
  const key = join(root, 'private/key')
  const read = () => readFileSync(key, 'utf8')
  withRightsOf(nobody, () => {
    expect(read).toThrow('EACCES')
    expect(asCaller(read)).toBe('of root')
    expect(read).toThrow('EACCES')
  })
  await withRightsOf(nobody, async () => {
    await Bun.sleep(1)
    await expect(Bun.file(key).text()).rejects.toThrow('EACCES')
  })
  expect(() => withRightsOf(nobody, () => asCaller(() => JSON.parse('no')))).toThrow()
  expect([read(), process.getegid!(), process.getgroups!()]).toEqual(['of root', 0, [0]])
  expect(withRightsOf(null, read)).toBe('of root')
})

test.skipIf(!isRoot)('a backup and its restore leave each file with its owner', async () => {
  filled()
  const file = join(root, 'private/davit.backup')
  await withRightsOf(nobody, () => makeBackup({ config, file, ...options }))
  expect(statSync(file)).toMatchObject({ uid: 0, gid: 0, mode: 0o100600 })
  rmSync(data, { recursive: true })
  await withRightsOf(nobody, () => restoreBackup({ config, file, passphrase: null }))
  expect(existsSync(join(data, 'davit.db'))).toBe(true)
  expect(new Set(ownersIn(join(root, 'home')))).toEqual(new Set([nobody.uid]))
})

test.skipIf(!isRoot)('a link in the data leads root to nothing, to read or to write', async () => {
  filled()
  rmSync(join(data, 'secret.key'))
  symlinkSync(join(root, 'private/key'), join(data, 'secret.key'))
  const file = join(root, 'private/davit.backup')
  const backup = withRightsOf(nobody, () => makeBackup({ config, file, ...options }))
  await expect(backup).rejects.toThrow(join(data, 'secret.key'))
  expect(readdirSync(join(root, 'private'))).toEqual(['key'])

  rmSync(data, { recursive: true })
  mkdirSync(join(root, 'private/empty'))
  symlinkSync(join(root, 'private/empty'), data)
  const restore = withRightsOf(nobody, () => restoreBackup({ config, file, passphrase: null }))
  await expect(restore).rejects.toThrow('can’t be used')
  expect(readdirSync(join(root, 'private/empty'))).toEqual([])
})
