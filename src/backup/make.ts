import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdtempSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { open } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { settingsIn } from '../config.ts'
import type { Config } from '../config.ts'
import { copyDatabase, installationIn, verifyDatabase } from '../db/copy.ts'
import { refuseMissing } from '../db/failures.ts'
import { writeFileAtomically } from '../platform/atomic-write.ts'
import { spaceOf } from '../platform/disk-space.ts'
import { asCaller } from '../platform/effective-user.ts'
import { Failure } from '../platform/errors.ts'
import { randomToken, readKeyFile } from '../platform/secrets.ts'
import { newSeal, sealChunks } from '../platform/sealed-stream.ts'
import { version } from '../platform/root.ts'
import { bytes } from '../web/units.ts'
import { contentOf, firstLine } from './format.ts'
import type { FileName, Manifest } from './format.ts'
import { verify } from './verify.ts'
import { extract } from './read.ts'

/** Copies of databases are created in the data directory, where no one else can read them. */
export const workPrefix = 'backup-'

type BackupOptions = {
  config: Pick<Config, 'dataDir' | 'secretKey'>
  file: string
  /** Without one (null), anyone with the file can read it. */
  passphrase: string | null
  withLogs: boolean
  /** Caddy's certificates as a tar archive; null omits them. */
  certificates?: AsyncIterable<Uint8Array> | null
  force: boolean
  settings: Record<string, string>
}

/** Writes all of Davit's data to one file atomically while the server runs, and verifies it. */
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
    if (options.certificates) await keep(options.certificates, join(work, 'certificates.tar'))
    const manifest = copyAll(work, { ...options, config })
    await write(draft, { work, manifest, passphrase: options.passphrase })
    for (const { name } of manifest.files) rmSync(join(work, name))
    verify(work, await extract(draft, { ...options, directory: work }), { secretKey })
    if (!force) refuseTaken(target)
    asCaller(() => renameSync(draft, target))
    return { manifest, size: asCaller(() => statSync(target).size) }
  } finally {
    asCaller(() => rmSync(draft, { force: true }))
    rmSync(work, { recursive: true, force: true })
  }
}

function refuseTaken(target: string) {
  if (!asCaller(() => existsSync(target))) return
  throw new Failure(
    'backup_exists',
    `There is a file ${target} already.`,
    'Choose another name, or replace the file with --force.',
  )
}

/** Only old leftovers of killed backups: a newer one may still be running. */
function removeLeftOvers(dataDir: string) {
  const dayAgo = Date.now() - 24 * 3600 * 1000
  for (const name of readdirSync(dataDir).filter((name) => name.startsWith(workPrefix)))
    if (statSync(join(dataDir, name)).mtimeMs < dayAgo)
      rmSync(join(dataDir, name), { recursive: true, force: true })
}

/** A copy must not use the space that the server needs. */
async function refuseFullDisk(dataDir: string, { withLogs }: { withLogs: boolean }) {
  const names = ['davit.db', 'davit.db-wal', ...(withLogs ? ['logs.db', 'logs.db-wal'] : [])]
  const sizes = names.map((name) => statSync(join(dataDir, name), { throwIfNoEntry: false })?.size)
  const wanted = sizes.reduce<number>((sum, size) => sum + (size ?? 0), 64 * 2 ** 20)
  const space = await spaceOf(dataDir)
  if (!space || space.free >= wanted) return
  throw new Failure(
    'disk_full',
    `A backup temporarily needs ${bytes(wanted)} in ${dataDir}, but only ${bytes(space.free)} are free.`,
    'Free some space, or leave out --with-logs.',
  )
}

/** The state is copied first, so that the logs have all lines of every deployment in it. */
function copyAll(
  work: string,
  {
    config,
    withLogs,
    certificates,
    settings,
  }: Omit<BackupOptions, 'file' | 'force' | 'passphrase'>,
): Manifest {
  const { dataDir, secretKey } = config
  if (!secretKey)
    writeFileAtomically(join(work, 'secret.key'), `${readKeyFile(join(dataDir, 'secret.key'))}\n`)
  const databases: FileName[] = withLogs ? ['davit.db', 'logs.db'] : ['davit.db']
  for (const name of databases) copyDatabase(join(dataDir, name), join(work, name))
  const names: FileName[] = [
    ...(secretKey ? [] : (['secret.key'] as const)),
    ...databases,
    ...(certificates ? (['certificates.tar'] as const) : []),
  ]
  return {
    davit: version,
    createdAt: new Date().toISOString(),
    instanceId: installationIn(join(work, 'davit.db'))?.id ?? '',
    key: secretKey ? 'setting' : 'file',
    settings,
    files: names.map((name) => ({
      name,
      size: statSync(join(work, name)).size,
      rows: name.endsWith('.db') ? verifyDatabase(join(work, name)) : null,
    })),
  }
}

/** In bytes: enough for thousands of hosts. */
const mostCertificates = 256 * 2 ** 20

async function keep(archive: AsyncIterable<Uint8Array>, path: string) {
  const file = await open(path, 'wx', 0o600)
  let size = 0
  try {
    for await (const chunk of archive) {
      size += chunk.length
      if (size > mostCertificates) throw certificatesTooLarge()
      await file.writeFile(chunk)
    }
  } finally {
    await file.close()
  }
}

const certificatesTooLarge = () =>
  new Failure(
    'certificates_too_large',
    `Caddy’s volume holds more than ${bytes(mostCertificates)} of certificates.`,
    'Leave out --certificates: Caddy then requests new ones.',
  )

async function write(
  draft: string,
  { work, manifest, passphrase }: { work: string; manifest: Manifest; passphrase: string | null },
) {
  const seal = await newSeal(passphrase)
  const content = sealChunks(contentOf(work, manifest), seal)
  try {
    const file = asCaller(() => openSync(draft, 'wx', 0o600))
    try {
      writeFileSync(file, `${firstLine}\n${seal.header}\n`)
      for await (const chunk of content) writeFileSync(file, chunk)
      fsyncSync(file)
    } finally {
      closeSync(file)
    }
  } catch (cause) {
    throw (cause as NodeJS.ErrnoException).syscall ? unwritable(draft, cause) : cause
  }
}

const unwritable = (draft: string, cause: unknown) =>
  new Failure(
    'backup_unwritable',
    `The backup can’t be written to ${dirname(draft)} (${(cause as NodeJS.ErrnoException).code}).`,
    'Choose a directory that you may write to, on a disk with free space.',
    { cause },
  )

/** Leaves out settings that are useless on another machine, and secrets unless the backup is sealed. */
export function settingsToKeep(
  env: Record<string, string | undefined>,
  { sealed }: { sealed: boolean },
) {
  const { plain, secret } = settingsIn(env)
  const { DAVIT_DATA_DIR: _place, ...told } = plain
  const { DAVIT_BACKUP_PASSPHRASE: _passphrase, ...kept } = secret
  return sealed ? { ...told, ...kept } : told
}
