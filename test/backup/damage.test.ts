import { afterAll, beforeAll, expect, onTestFinished, test } from 'bun:test'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { insertUser } from '../../src/accounts/store.ts'
import { makeBackup } from '../../src/backup/make.ts'
import { refuseHalfRestored } from '../../src/backup/data-dir.ts'
import { restoreBackup } from '../../src/backup/restore.ts'
import { openDatabase, openLogDatabase } from '../../src/db/index.ts'
import { openInstallation } from '../../src/db/installation.ts'
import { openSecrets } from '../../src/platform/secrets.ts'

const passphrase = 'correct horse battery staple'
let directory: string
let sealed: Buffer
let open: Buffer

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'davit-damage-'))
  sealed = await aBackup({ name: 'sealed', passphrase })
  open = await aBackup({ name: 'open', passphrase: null })
})

afterAll(() => rmSync(directory, { recursive: true }))

/** The bytes of a backup of an installation with one user. */
async function aBackup({
  name,
  secretKey = null,
  change = () => {},
  ...options
}: {
  name: string
  passphrase: string | null
  secretKey?: string | null
  change?: (db: ReturnType<typeof openDatabase>) => void
}) {
  const dataDir = join(directory, `${name}-data`)
  mkdirSync(dataDir)
  const config = { dataDir, secretKey }
  const secrets = openSecrets(config)
  const db = openDatabase(join(dataDir, 'davit.db'))
  openInstallation(db, secrets)
  insertUser(db, { email: 'ada@example.com', name: null, passwordHash: '', role: 'admin' })
  change(db)
  openLogDatabase(join(dataDir, 'logs.db')).$client.close()
  const file = join(directory, name)
  const settings = {
    DAVIT_URL: 'https://davit.example.com',
    ...(secretKey && options.passphrase && { DAVIT_SECRET_KEY: secretKey }),
  }
  await makeBackup({ config, file, withLogs: true, force: false, settings, ...options })
  db.$client.close()
  expect(readdirSync(dataDir).filter((name) => name.startsWith('backup-'))).toEqual([])
  return readFileSync(file)
}

/** Restores these bytes into a new directory. */
async function restored(
  bytes: Uint8Array,
  { given = passphrase, secretKey = null as string | null } = {},
) {
  const place = mkdtempSync(join(directory, 'place-'))
  onTestFinished(() => rmSync(place, { recursive: true, force: true }))
  const file = join(place, 'file')
  writeFileSync(file, bytes)
  const dataDir = join(place, 'data')
  const config = { dataDir, secretKey }
  const error = await restoreBackup({ config, file, passphrase: given }).then(
    () => null,
    (error: Error) => error,
  )
  return { error, dataDir }
}

const flipped = (bytes: Buffer, at: number) => {
  const other = Buffer.from(bytes)
  other[at]! ^= 1
  return other
}

test('a backup that is whole is brought back, with its key and its settings', async () => {
  const { error, dataDir } = await restored(sealed)
  expect(error).toBeNull()
  expect(readFileSync(join(dataDir, 'settings.env'), 'utf8')).toBe(
    'DAVIT_URL="https://davit.example.com"\n',
  )
  const db = openDatabase(join(dataDir, 'davit.db'))
  openInstallation(db, openSecrets({ dataDir, secretKey: null }))
  db.$client.close()
})

test('one that was cut short, changed, mixed or is another’s is refused, and nothing is written', async () => {
  const chunk = 65_536 + 16
  const first = open.indexOf('\n', open.indexOf('\n') + 1) + 1
  const swapped = Buffer.concat([
    open.subarray(0, first),
    open.subarray(first + chunk, first + 2 * chunk),
    open.subarray(first, first + chunk),
    open.subarray(first + 2 * chunk),
  ])
  const damage = /is damaged: it was truncated, or changed/
  const cases: [Uint8Array, RegExp][] = [
    [open.subarray(0, -1), damage],
    [open.subarray(0, first + 2 * chunk), damage], // where a chunk ends
    [open.subarray(0, first), damage],
    [Buffer.concat([open, Buffer.alloc(1)]), damage],
    [swapped, damage],
    [open.subarray(0, 20), /isn’t a Davit backup/],
    [Buffer.from('not one at all\n\n\n'), /isn’t a Davit backup/],
    [flipped(open, 3), /isn’t a Davit backup/],
    [flipped(open, 'davit backup'.length + 1), /made by another version/],
    ...Array.from({ length: 40 }, (_, at): [Uint8Array, RegExp] => [
      flipped(open, first + Math.floor(((open.length - first - 1) * at) / 39)),
      damage,
    ]),
    [flipped(open, first - 10), damage], // the key
    [flipped(sealed, first + 200), damage],
  ]
  for (const [bytes, words] of cases) {
    const { error, dataDir } = await restored(bytes)
    expect(error?.message).toMatch(words)
    expect(existsSync(dataDir)).toBe(false)
  }
  const { error, dataDir } = await restored(sealed, { given: `${passphrase}!` })
  expect(error?.message).toMatch(/The passphrase does not open the backup/)
  expect(existsSync(dataDir)).toBe(false)
}, 60_000)

test('one of a newer version is refused', async () => {
  const bytes = await aBackup({
    name: 'newer',
    passphrase: null,
    change: (db) =>
      db.$client.run("INSERT INTO __drizzle_migrations (hash, created_at) VALUES ('x', 9e15)"),
  })
  const { error, dataDir } = await restored(bytes)
  expect(error?.message).toContain('newer version')
  expect(existsSync(dataDir)).toBe(false)
})

test('a key that was a setting is in what is sealed only, and must be the right one', async () => {
  const secretKey = 'k'.repeat(40)
  const shut = await aBackup({ name: 'setting-sealed', passphrase, secretKey })
  expect((await restored(shut)).error).toBeNull()
  const bytes = await aBackup({ name: 'setting', passphrase: null, secretKey })
  expect((await restored(bytes)).error?.message).toContain('it was set as DAVIT_SECRET_KEY')
  const wrong = await restored(bytes, { secretKey: 'w'.repeat(40) })
  expect(wrong.error).toMatchObject({ code: 'wrong_key' })
  expect((await restored(bytes, { secretKey })).error).toBeNull()
  expect((await restored(open, { secretKey })).error?.message).toContain('is a key file')
})

test('nothing that is there is overwritten: neither data nor a backup', async () => {
  const dataDir = join(directory, 'open-data')
  const config = { dataDir, secretKey: null }
  const file = join(directory, 'open')
  const before = readdirSync(dataDir)
  await expect(restoreBackup({ config, file, passphrase: null })).rejects.toThrow('isn’t empty')
  expect(readdirSync(dataDir)).toEqual(before)
  const again = { config, file, passphrase: null, withLogs: false, settings: {} }
  await expect(makeBackup({ ...again, force: false })).rejects.toThrow('already')
  await makeBackup({ ...again, force: true })
  expect(readFileSync(file).equals(open)).toBe(false)
})

test('a restore that was killed is started again, and no server starts on its half', async () => {
  const place = mkdtempSync(join(directory, 'killed-'))
  const dataDir = join(place, 'data')
  mkdirSync(join(dataDir, 'restoring'), { recursive: true })
  writeFileSync(join(dataDir, 'secret.key'), 'moved already')
  writeFileSync(join(dataDir, 'restoring', 'davit.db'), 'half of it')
  expect(() => refuseHalfRestored(dataDir)).toThrow('was interrupted')
  const file = join(place, 'file')
  writeFileSync(file, open)
  await restoreBackup({ config: { dataDir, secretKey: null }, file, passphrase: null })
  refuseHalfRestored(dataDir)
  expect(readFileSync(join(dataDir, 'secret.key'), 'utf8')).not.toBe('moved already')
})
