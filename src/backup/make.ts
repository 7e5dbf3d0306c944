import { existsSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import type { Config } from '../config.ts'
import { copyDatabase, installationIn, verifyDatabase } from '../db/copy.ts'
import { refuseMissing } from '../db/failures.ts'
import { writeFileAtomically } from '../platform/atomic-write.ts'
import { spaceOf } from '../platform/disk-space.ts'
import { Failure } from '../platform/errors.ts'
import { randomToken, readKeyFile } from '../platform/secrets.ts'
import { newSeal, sealChunks } from '../platform/sealed-stream.ts'
import { version } from '../platform/root.ts'
import { bytes } from '../web/units.ts'
import { contentOf, firstLine } from './format.ts'
import type { FileName, Manifest } from './format.ts'
import { verify } from './verify.ts'
import { extract } from './read.ts'

/** Copies of databases are made in the data directory, where nobody reads them who could not before. */
const workPrefix = 'backup-'

type BackupOptions = {
  config: Pick<Config, 'dataDir' | 'secretKey'>
  file: string
  /** Null: whoever has the file can read all of it. */
  passphrase: string | null
  withLogs: boolean
  /** Whether it may take the place of a file that is there. */
  force: boolean
  settings: Record<string, string>
}

/**
 * Writes all that this Davit knows into one file while the server runs, and opens it again before it
 * says so. The file appears whole or not at all.
 */
export async function makeBackup({ config, file, force, ...options }: BackupOptions) {
  const { dataDir, secretKey } = config
  const target = resolve(file)
  refuseMissing(dataDir)
  if (!force) refuseTaken(target)
  removeLeftOvers(dataDir)
  await refuseFullDisk(dataDir, options)
  const work = mkdtempSync(join(dataDir, workPrefix))
  const draft = join(dirname(target), `.${basename(target)}-${randomToken().slice(0, 8)}`)
  try {
    const manifest = copyAll(work, { ...options, config })
    await write(draft, { work, manifest, passphrase: options.passphrase })
    for (const { name } of manifest.files) rmSync(join(work, name))
    verify(work, await extract(draft, { ...options, directory: work }), { secretKey })
    if (!force) refuseTaken(target)
    renameSync(draft, target)
    return { manifest, size: statSync(target).size }
  } finally {
    rmSync(draft, { force: true })
    rmSync(work, { recursive: true, force: true })
  }
}

function refuseTaken(target: string) {
  if (!existsSync(target)) return
  throw new Failure(
    'backup_exists',
    `There is a file ${target} already.`,
    'Choose another name, or replace it with --force.',
  )
}

/** Of backups that were killed: a younger one may be at work. */
function removeLeftOvers(dataDir: string) {
  const dayAgo = Date.now() - 24 * 3600 * 1000
  for (const name of readdirSync(dataDir).filter((name) => name.startsWith(workPrefix)))
    if (statSync(join(dataDir, name)).mtimeMs < dayAgo)
      rmSync(join(dataDir, name), { recursive: true, force: true })
}

/** A copy must not take the room that the server needs. */
async function refuseFullDisk(dataDir: string, { withLogs }: { withLogs: boolean }) {
  const names = ['davit.db', 'davit.db-wal', ...(withLogs ? ['logs.db', 'logs.db-wal'] : [])]
  const sizes = names.map((name) => statSync(join(dataDir, name), { throwIfNoEntry: false })?.size)
  const wanted = sizes.reduce<number>((sum, size) => sum + (size ?? 0), 64 * 2 ** 20)
  const space = await spaceOf(dataDir)
  if (!space || space.free >= wanted) return
  throw new Failure(
    'disk_full',
    `A backup needs ${bytes(wanted)} of room in ${dataDir} for a while, and there are ${bytes(space.free)}.`,
    'Make room, or leave out --with-logs.',
  )
}

/** The state first: of a deployment that it knows, all lines until then are in the logs. */
function copyAll(
  work: string,
  { config, withLogs, settings }: Omit<BackupOptions, 'file' | 'force' | 'passphrase'>,
): Manifest {
  const { dataDir, secretKey } = config
  if (!secretKey)
    writeFileAtomically(join(work, 'secret.key'), `${readKeyFile(join(dataDir, 'secret.key'))}\n`)
  const databases: FileName[] = withLogs ? ['davit.db', 'logs.db'] : ['davit.db']
  for (const name of databases) copyDatabase(join(dataDir, name), join(work, name))
  const names: FileName[] = secretKey ? databases : ['secret.key', ...databases]
  return {
    davit: version,
    createdAt: new Date().toISOString(),
    instanceId: installationIn(join(work, 'davit.db'))?.id ?? '',
    key: secretKey ? 'setting' : 'file',
    settings,
    files: names.map((name) => ({
      name,
      size: statSync(join(work, name)).size,
      rows: name === 'secret.key' ? null : verifyDatabase(join(work, name)),
    })),
  }
}

async function write(
  draft: string,
  { work, manifest, passphrase }: { work: string; manifest: Manifest; passphrase: string | null },
) {
  const seal = await newSeal(passphrase)
  const file = await open(draft, 'wx', 0o600).catch((cause) => {
    throw unwritable(draft, cause)
  })
  try {
    await file.writeFile(`${firstLine}\n${seal.header}\n`)
    for await (const chunk of sealChunks(contentOf(work, manifest), seal))
      await file.writeFile(chunk)
    await file.sync()
  } catch (cause) {
    throw (cause as NodeJS.ErrnoException).syscall ? unwritable(draft, cause) : cause
  } finally {
    await file.close()
  }
}

const unwritable = (draft: string, cause: unknown) =>
  new Failure(
    'backup_unwritable',
    `The backup can not be written to ${dirname(draft)} (${(cause as NodeJS.ErrnoException).code}).`,
    'Choose a directory that you may write to, on a disk with room.',
    { cause },
  )
