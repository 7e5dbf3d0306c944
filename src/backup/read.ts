import { Failure } from '../platform/errors.ts'
import { DamagedStream, openChunks, openSeal, wantsPassphrase } from '../platform/sealed-stream.ts'
import { ByteReader, firstLine, otherVersion, readManifest, writeFiles } from './format.ts'
import type { Manifest } from './format.ts'

/** Whether a backup can be opened with its passphrase only. */
export const isSealed = async (file: string) => wantsPassphrase((await headOf(file)).header)

/**
 * Puts what a backup holds into an empty directory. Throws a Failure that names the file when the
 * passphrase is wrong, or one byte of it is not as it was written; the directory is then worth nothing.
 */
export async function extract(
  file: string,
  { passphrase, directory }: { passphrase: string | null; directory: string },
): Promise<Manifest> {
  const { header, length } = await headOf(file)
  try {
    const seal = await openSeal(header, passphrase)
    if (!seal) throw wrongPassphrase(file)
    const chunks = openChunks(Bun.file(file).slice(length).stream(), seal)
    const reader = new ByteReader(chunks)
    const manifest = await readManifest(reader)
    await writeFiles(reader, manifest, directory)
    return manifest
  } catch (error) {
    if (error instanceof DamagedStream) throw damagedBackup(file, error)
    throw error
  }
}

/** The second line, and how many bytes both lines take. */
async function headOf(file: string) {
  const start = Buffer.from(await bytesOf(file)).toString('latin1')
  const [first = '', header, rest] = start.split('\n')
  if (first !== firstLine && /^davit backup \d+$/.test(first)) throw otherVersion()
  if (first !== firstLine || header === undefined || rest === undefined) throw noBackup(file)
  return { header, length: firstLine.length + header.length + 2 }
}

async function bytesOf(file: string) {
  try {
    return await Bun.file(file).slice(0, 256).bytes()
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException
    throw new Failure(
      'backup_unreadable',
      `The backup ${file} can not be read (${code ?? message}).`,
      'Give the path of a file that davit backup wrote.',
      { cause },
    )
  }
}

const noBackup = (file: string) =>
  new Failure(
    'no_backup',
    `The file ${file} is no backup of Davit, or its beginning is damaged.`,
    'Give the path of a file that davit backup wrote.',
  )

const wrongPassphrase = (file: string) =>
  new Failure(
    'wrong_passphrase',
    `The passphrase does not open the backup ${file}.`,
    'Give the one that it was made with.',
  )

const damagedBackup = (file: string, cause: unknown) =>
  new Failure(
    'backup_damaged',
    `The backup ${file} is damaged: it was cut short, or changed after it was made.`,
    'Nothing of it was used. Take another copy of it, or an earlier backup.',
    { cause },
  )
