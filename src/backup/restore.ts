import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../config.ts'
import { noteWhatRan } from '../db/restored.ts'
import { openDatabase, openLogDatabase } from '../db/index.ts'
import { closeCleanly } from '../db/wal-guard.ts'
import { Failure } from '../platform/errors.ts'
import type { Manifest } from './format.ts'
import { verify } from './verify.ts'
import { extract } from './read.ts'
import { fillDataDir } from './target.ts'

/** Where the settings of the backup are told; Davit itself takes them from its environment only. */
export const settingsFile = 'settings.env'

/**
 * Brings a backup into an empty data directory: unpacked, proved and upgraded beside its place, then
 * moved there. What ran is noted for the next server.
 */
export const restoreBackup = ({
  config: { dataDir, secretKey },
  file,
  passphrase,
}: {
  config: Pick<Config, 'dataDir' | 'secretKey'>
  file: string
  passphrase: string | null
}): Promise<Manifest> =>
  fillDataDir(dataDir, async (directory) => {
    const manifest = await extract(file, { passphrase, directory })
    if (secretKey && manifest.key === 'file') throw keyBesides()
    const key = secretKey ?? manifest.settings.DAVIT_SECRET_KEY ?? null
    verify(directory, manifest, { secretKey: key })
    upgrade(directory, manifest)
    if (Object.keys(manifest.settings).length > 0) writeSettings(directory, manifest)
    return manifest
  })

const keyBesides = () =>
  new Failure(
    'key_besides',
    'DAVIT_SECRET_KEY is set here, but the key of this backup is a key file.',
    'Leave DAVIT_SECRET_KEY out, here and where Davit is started.',
  )

function upgrade(directory: string, { files }: Manifest) {
  const db = openDatabase(join(directory, 'davit.db'))
  noteWhatRan(db)
  close(db)
  if (files.some(({ name }) => name === 'logs.db'))
    close(openLogDatabase(join(directory, 'logs.db')))
}

/** Only the file moves, for all is in it: SQLite may leave empty ones beside it. */
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
