import { createReadStream, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import type { Manifest } from '../backup/format.ts'
import { makeBackup, settingsToKeep, workPrefix } from '../backup/make.ts'
import type { StoredContents } from '../db/schema.ts'
import { Failure } from '../platform/errors.ts'
import { readCertificates } from '../runtime/edge-container.ts'
import type { BackupDeps } from './deps.ts'
import type { DumpFile } from './data.ts'

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
  const { config } = deps
  // a killed one is removed with those of `davit backup`
  const folder = mkdtempSync(join(config.dataDir, workPrefix))
  const file = join(folder, 'davit.backup')
  try {
    const settings = settingsToKeep(process.env, { sealed: true })
    const how = { file, passphrase: null, withLogs: false, settings, signal }
    const { manifest } = await makeOwnFile(deps, how)
    const write: DumpFile['write'] = (to, signal) =>
      pipeline(createReadStream(file), to, { signal, end: false })
    return await store({ name: 'davit.backup', write }, contentsOf(manifest))
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
          ...{ name, file: 'davit.backup' },
          tables: Object.entries(rows).map(([name, rows]) => ({ name, rows })),
        },
  ),
})
