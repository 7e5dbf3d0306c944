import { existsSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../config.ts'
import { lockDataDir } from '../db/instance-lock.ts'
import { endWorkOfThen, noteWhatRan } from '../db/restored.ts'
import { openDatabase, openLogDatabase } from '../db/index.ts'
import type { Db } from '../db/index.ts'
import { closeCleanly } from '../db/wal-guard.ts'
import { Failure } from '../platform/errors.ts'
import { Secrets, readKeyFile } from '../platform/secrets.ts'
import { fillingName, openDataDir, stagingName } from './data-dir.ts'
import type { Manifest } from './format.ts'
import { verify } from './verify.ts'
import { extract } from './read.ts'

/** Lists the settings of the backup. Davit doesn't read it: it only reads its environment. */
export const settingsFile = 'settings.env'

type RestoreOptions = {
  config: Pick<Config, 'dataDir' | 'secretKey'>
  file: string
  passphrase: string | null
  /** Its Davit has stood still since, and this one goes on with all that it planned or queued. */
  isMove?: boolean
  /** Changes the database before it is used. */
  fill?: (db: Db, secrets: Secrets) => Promise<void>
}

/**
 * Restores a backup into an empty data directory: it is unpacked, verified and migrated in a
 * staging directory, then moved. What was running is recorded for the next server.
 */
export const restoreBackup = ({ config, ...options }: RestoreOptions): Promise<Manifest> =>
  fillDataDir(config.dataDir, (directory) => {
    if (existsSync(join(config.dataDir, fillingName))) throw halfFilled(config.dataDir)
    return unpackInto(directory, { config, ...options })
  })

export async function unpackInto(
  directory: string,
  {
    config: { secretKey },
    file,
    passphrase,
    isMove = false,
    fill = async () => {},
  }: RestoreOptions,
): Promise<Manifest> {
  const manifest = await extract(file, { passphrase, directory })
  if (secretKey && manifest.key === 'file') throw keyBesides()
  const key = secretKey ?? manifest.settings.DAVIT_SECRET_KEY ?? null
  verify(directory, manifest, { secretKey: key })
  await upgrade(directory, manifest, (db) => {
    endWorkOfThen(db, { isMove })
    noteWhatRan(db)
    return fill(db, new Secrets(key ?? readKeyFile(join(directory, 'secret.key'))))
  })
  if (Object.keys(manifest.settings).length > 0) writeSettings(directory, manifest)
  return manifest
}

const halfFilled = (dataDir: string) =>
  new Failure(
    'restore_unfinished',
    `A restore of a whole server into ${dataDir} was interrupted, so some of its volumes are incomplete.`,
    'Run davit restore with that repository again first: it removes them and starts from the beginning.',
  )

const keyBesides = () =>
  new Failure(
    'key_besides',
    'DAVIT_SECRET_KEY is set here, but the key of this backup is a key file.',
    'Unset DAVIT_SECRET_KEY, here and where Davit is started.',
  )

async function upgrade(directory: string, { files }: Manifest, fill: (db: Db) => Promise<void>) {
  const db = openDatabase(join(directory, 'davit.db'))
  try {
    await fill(db)
  } finally {
    close(db)
  }
  if (files.some(({ name }) => name === 'logs.db'))
    close(openLogDatabase(join(directory, 'logs.db')))
}

/** Only the database itself is moved: it contains everything, but SQLite may leave empty files beside it. */
function close({ $client }: ReturnType<typeof openDatabase | typeof openLogDatabase>) {
  closeCleanly($client)
  for (const end of ['-wal', '-shm']) rmSync($client.filename + end, { force: true })
}

const writeSettings = (directory: string, { settings }: Manifest) =>
  writeFileSync(
    join(directory, settingsFile),
    Object.entries(settings)
      .map(([name, value]) => `${name}=${JSON.stringify(value)}\n`)
      .join(''),
    { mode: 0o600 },
  )

const isNothing = (name: string) =>
  name === fillingName || /^(davit\.lock(-.*)?|lost\+found)$/.test(name)

/**
 * Prepares an empty data directory for a restore, which no other can use meanwhile: `work` fills the staging
 * directory, whose files are then moved, the database last. On failure the directory is left as it was.
 */
export async function fillDataDir<Result>(
  dataDir: string,
  work: (staging: string) => Promise<Result>,
): Promise<Result> {
  const staging = join(dataDir, stagingName)
  const isNew = !existsSync(dataDir)
  openDataDir(dataDir)
  const hold = lockDataDir(dataDir)
  const undo = () => {
    hold.close()
    const isEmptied = isNew && !existsSync(join(dataDir, fillingName))
    for (const path of isEmptied ? [dataDir] : [staging, join(dataDir, 'davit.lock')])
      rmSync(path, { recursive: true, force: true })
  }
  try {
    refuseFull(dataDir)
    clear(dataDir, staging)
    openDataDir(staging)
    const result = await work(staging)
    for (const name of readdirSync(staging).sort(databaseLast))
      renameSync(join(staging, name), join(dataDir, name))
    rmSync(staging, { recursive: true })
    hold.close()
    return result
  } catch (error) {
    undo()
    throw error
  }
}

function refuseFull(dataDir: string) {
  const found = readdirSync(dataDir).filter((name) => !isNothing(name))
  if (found.length === 0 || found.includes(stagingName)) return
  throw new Failure(
    'data_dir_not_empty',
    `The data directory ${dataDir} isn’t empty: ${found.slice(0, 3).join(', ')} ${found.length > 3 ? 'and more are' : 'is'} there.`,
    'Move it away, or set DAVIT_DATA_DIR to another directory. A restore overwrites nothing.',
  )
}

function clear(dataDir: string, staging: string) {
  if (!existsSync(staging)) return
  for (const name of readdirSync(dataDir).filter((name) => !isNothing(name)))
    rmSync(join(dataDir, name), { recursive: true, force: true })
}

const databaseLast = (a: string, b: string) => Number(a === 'davit.db') - Number(b === 'davit.db')
