import { closeSync, openSync, readSync } from 'node:fs'
import { asCaller } from '../platform/effective-user.ts'
import { Failure } from '../platform/errors.ts'
import { DamagedStream, openChunks, openSeal, wantsPassphrase } from '../platform/sealed-stream.ts'
import { ByteReader, firstLine, otherVersion, readManifest, writeFiles } from './format.ts'
import type { Manifest } from './format.ts'

/** True when a passphrase is needed to read it. */
export const isSealed = (path: string) =>
  reading(path, (file) => wantsPassphrase(headOf(path, file).header))

/**
 * Unpacks a backup into an empty directory. Throws a Failure that names the file when the
 * passphrase is wrong or any byte is damaged; the directory is then unusable.
 */
export const extract = (
  path: string,
  { passphrase, directory }: { passphrase: string | null; directory: string },
): Promise<Manifest> =>
  reading(path, async (file) => {
    const { header, length } = headOf(path, file)
    try {
      const seal = await openSeal(header, passphrase)
      if (!seal) throw wrongPassphrase(path)
      const reader = new ByteReader(openChunks(bytesFrom(file, length), seal))
      const manifest = await readManifest(reader)
      await writeFiles(reader, manifest, directory)
      return manifest
    } catch (error) {
      if (error instanceof DamagedStream) throw damagedBackup(path, error)
      throw error
    }
  })

async function reading<T>(path: string, use: (file: number) => T | Promise<T>) {
  const file = orUnreadable(path, () => asCaller(() => openSync(path, 'r')))
  try {
    return await use(file)
  } finally {
    closeSync(file)
  }
}

/** Returns the second line, and the length of both lines in bytes. */
function headOf(path: string, file: number) {
  const bytes = Buffer.alloc(256)
  const count = orUnreadable(path, () => readSync(file, bytes, 0, bytes.length, 0))
  const [first = '', header, rest] = bytes.subarray(0, count).toString('latin1').split('\n')
  if (first !== firstLine && /^davit backup \d+$/.test(first)) throw otherVersion()
  if (first !== firstLine || header === undefined || rest === undefined) throw noBackup(path)
  return { header, length: firstLine.length + header.length + 2 }
}

async function* bytesFrom(file: number, start: number) {
  for (let at = start; ;) {
    const bytes = Buffer.allocUnsafe(2 ** 18)
    const count = readSync(file, bytes, 0, bytes.length, at)
    if (count === 0) return
    at += count
    yield bytes.subarray(0, count)
  }
}

function orUnreadable<T>(path: string, act: () => T): T {
  try {
    return act()
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException
    throw new Failure(
      'backup_unreadable',
      `The backup ${path} can’t be read (${code ?? message}).`,
      'Give the path of a file that davit backup wrote.',
      { cause },
    )
  }
}

const noBackup = (file: string) =>
  new Failure(
    'no_backup',
    `The file ${file} isn’t a Davit backup, or its beginning is damaged.`,
    'Give the path of a file that davit backup wrote.',
  )

const wrongPassphrase = (file: string) =>
  new Failure(
    'wrong_passphrase',
    `The passphrase does not open the backup ${file}.`,
    'Use the passphrase that it was made with.',
  )

const damagedBackup = (file: string, cause: unknown) =>
  new Failure(
    'backup_damaged',
    `The backup ${file} is damaged: it was truncated, or changed after it was made.`,
    'Nothing was restored. Use another copy of it, or an earlier backup.',
    { cause },
  )
