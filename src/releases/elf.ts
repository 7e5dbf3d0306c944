import { closeSync, existsSync, openSync, readSync, statSync } from 'node:fs'
import { Failure } from '../platform/errors.ts'

/** As in `process.arch`. */
const architectures: Record<number, string> = { 62: 'x64', 183: 'arm64' }

export function readElf(path: string) {
  const file = openSync(path, 'r')
  try {
    const head = readAt(file, 0, 64)
    if (head.length < 64 || !head.subarray(0, 6).equals(magic)) return null
    const segments = table(file, head, { at: 32, entry: 54, count: 56 })
    const loader = segments.find((one) => one.readUInt32LE(0) === loaderType)
    const ends = segments.map((one) => numberAt(one, 8) + numberAt(one, 32))
    const sections = numberAt(head, 40) + head.readUInt16LE(58) * head.readUInt16LE(60)
    return {
      arch: architectures[head.readUInt16LE(18)] ?? null,
      /** That of its libraries, such as /lib64/ld-linux-x86-64.so.2; null for a static executable. */
      loader: loader ? textAt(file, numberAt(loader, 8), numberAt(loader, 32)) : null,
      /** The least number of bytes according to its headers. */
      size: Math.max(sections, ...ends),
    }
  } finally {
    closeSync(file)
  }
}

/** The target of executables that can run here, such as `linux-x64`. */
export function thisTarget() {
  const usesMusl = readElf(process.execPath)?.loader?.includes('musl') ?? false
  return `linux-${process.arch}${usesMusl ? '-musl' : ''}`
}

/** 64-bit, little-endian. */
const magic = Buffer.from('\x7fELF\x02\x01', 'latin1')

const loaderType = 3
const longestLoader = 4096

function table(
  file: number,
  head: Buffer,
  { at, entry, count }: Record<'at' | 'entry' | 'count', number>,
) {
  const size = head.readUInt16LE(entry)
  if (size < 56) return []
  const start = numberAt(head, at)
  return Array.from({ length: head.readUInt16LE(count) }, (_, index) =>
    readAt(file, start + index * size, size),
  ).filter((one) => one.length === size)
}

const textAt = (file: number, at: number, length: number) =>
  readAt(file, at, Math.min(length, longestLoader)).toString('utf8').replace(/\0.*$/s, '')

/** May be inexact above 2^53; `readAt` rejects such offsets. */
const numberAt = (bytes: Buffer, at: number) => Number(bytes.readBigUInt64LE(at))

function readAt(file: number, at: number, length: number) {
  if (!Number.isSafeInteger(at)) return Buffer.alloc(0)
  const bytes = Buffer.alloc(length)
  return bytes.subarray(0, readSync(file, bytes, 0, length, at))
}

export const notExecutable = 'isn’t an executable for Linux of 64 bits'

/** Throws a Failure unless the file is a complete executable that can start on this machine. */
export function refuseOtherMachine(
  path: string,
  { arch = process.arch as string, root = '' } = {},
) {
  const elf = readElf(path)
  if (!elf) throw refused(notExecutable)
  if (elf.arch !== arch)
    throw refused(`is for ${elf.arch ?? 'another architecture'}, but this machine is ${arch}`)
  if (statSync(path).size < elf.size) throw refused('was cut short: bytes at its end are missing')
  if (elf.loader && !existsSync(root + elf.loader))
    throw refused(
      `needs ${elf.loader.includes('musl') ? 'musl' : 'glibc'}: ${elf.loader} is missing here`,
    )

  function refused(why: string) {
    const hint = `Use the file of the release for this machine, linux-${arch} or linux-${arch}-musl.`
    return new Failure('upgrade_file', `The file ${path} ${why}.`, `${hint} Nothing was changed.`)
  }
}
