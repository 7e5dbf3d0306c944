import { createReadStream, createWriteStream, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { finished, pipeline } from 'node:stream/promises'
import type { Manifest } from '../backup/format.ts'
import { makeBackup, settingsToKeep, workPrefix } from '../backup/make.ts'
import { extract } from '../backup/read.ts'
import { verify } from '../backup/verify.ts'
import type { StoredContents } from '../db/schema.ts'
import { Failure } from '../platform/errors.ts'
import { readCertificates } from '../runtime/edge-container.ts'
import type { BackupDeps } from './deps.ts'
import type { DumpFile } from './recipes/index.ts'
import { fileReader } from './read-file.ts'
import type { Restic } from './restic/restic.ts'
import type { Backup } from './store.ts'

type OwnFile = {
  file: string
  passphrase: string | null
  withLogs: boolean
  settings: Record<string, string>
}

type Options<Result> = {
  signal: AbortSignal
  store: (file: DumpFile, contents: StoredContents) => Promise<Result>
}

/** Stores all of Davit’s own data as the file that `davit restore` reads. The repository seals it. */
export async function storeOwnFile<Result>(
  deps: BackupDeps,
  { signal, store }: Options<Result>,
): Promise<Result> {
  return inFolder(deps, async (folder) => {
    const file = join(folder, fileName)
    const settings = settingsToKeep(process.env, { sealed: true })
    const how = { file, passphrase: null, withLogs: false, settings, signal }
    const { manifest } = await makeOwnFile(deps, how)
    const write: DumpFile['write'] = (to, signal) =>
      pipeline(createReadStream(file), to, { signal, end: false })
    return store({ name: fileName, write }, contentsOf(manifest))
  })
}

/** Reads that file from its target, and opens all of it as `davit restore` does. Returns its rows. */
export const proveOwnFile = (
  deps: BackupDeps,
  { backup, restic, signal }: { backup: Backup; restic: Restic; signal: AbortSignal },
) =>
  inFolder(deps, async (directory) => {
    const file = join(directory, fileName)
    const disk = createWriteStream(file, { mode: 0o600 })
    await fileReader(backup, restic)(fileName, disk, signal)
    disk.end()
    await finished(disk)
    const manifest = await extract(file, { passphrase: null, directory })
    verify(directory, manifest, deps.config)
    const counts = manifest.files.flatMap(({ rows }) => Object.values(rows ?? {}))
    return counts.reduce((sum, rows) => sum + rows, 0)
  })

const fileName = 'davit.backup'

/** A killed one is removed with those of `davit backup`. */
async function inFolder<Result>(
  { config }: BackupDeps,
  work: (folder: string) => Promise<Result>,
): Promise<Result> {
  const folder = mkdtempSync(join(config.dataDir, workPrefix))
  try {
    return await work(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** With the certificates of Davit’s own Caddy, if there are any. */
export async function makeOwnFile(
  { config, docker, instanceId }: Pick<BackupDeps, 'config' | 'docker' | 'instanceId'>,
  { signal, ...how }: OwnFile & { signal: AbortSignal },
) {
  const options = { config, force: true, ...how }
  try {
    const certificates = readCertificates({ docker, instanceId }, { signal })
    return await makeBackup({ ...options, certificates })
  } catch (error) {
    if (!(error instanceof Failure && error.code === 'no_certificates')) throw error
    return makeBackup(options)
  }
}

const contentsOf = ({ davit: version, files }: Manifest): StoredContents => ({
  ...{ component: 'davit', engine: 'sqlite', version },
  databases: files.flatMap(({ name, rows }) =>
    rows === null
      ? []
      : {
          ...{ name, file: fileName },
          tables: Object.entries(rows).map(([name, rows]) => ({ name, rows })),
        },
  ),
})
