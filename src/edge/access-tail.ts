import { constants, lstatSync } from 'node:fs'
import { lstat, open, readdir, rm } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import { accessFile, accessFolder } from './access-log.ts'

export type AccessPosition = { inode: string; offset: number; head: string }

type AccessPiece = {
  /** Only complete lines. */
  lines: string[]
  /** Null when there is no log yet. */
  position: AccessPosition | null
  /** True when nothing more has been written. */
  isEnd: boolean
  /** True when unread lines were lost, because Caddy wrote more than it keeps. */
  hasGap: boolean
}

/** Bytes that are read at a time, and bytes above which a line is skipped. */
const piece = 256 * 1024
const longestLine = 8 * 2 ** 20

/** First bytes of a file, which identify it. */
const headSize = 64

type LogFile = { handle: FileHandle; inode: string; size: number; isFull: boolean }

/** Reads Caddy's log from a position on: across rotated files, and from the start of a truncated one. */
export async function readAccessLog(
  folder: string,
  position: AccessPosition | null,
): Promise<AccessPiece> {
  const files = await openFiles(folder)
  try {
    const known = position && (await indexOf(files, position))
    const at = known ?? 0
    const hasGap = position !== null && position.offset > 0 && known === null
    if (!files[at]) return { lines: [], position, isEnd: true, hasGap: false }
    const found = await readFile(files[at], known === null ? 0 : position!.offset)
    const next = files[at + 1]
    // a full file that doesn't end with a line break ends with an incomplete line
    if (found.isEnd && files[at].isFull && next)
      return { ...found, isEnd: false, hasGap, position: await positionIn(next, 0) }
    return { ...found, hasGap, position: await positionIn(files[at], found.offset) }
  } finally {
    await Promise.all(files.map(({ handle }) => handle.close()))
  }
}

/** Changes with each line that Caddy writes; null while there is no log. */
export function markOfAccessLog(folder: string): string | null {
  const found = lstatSync(accessFile(folder), { throwIfNoEntry: false })
  return found ? `${found.ino} ${found.size} ${found.mtimeMs}` : null
}

/** Removes the files before the position. */
export async function removeRead(folder: string, { inode }: AccessPosition) {
  const read: string[] = []
  for (const name of await namesIn(folder)) {
    const path = join(accessFolder(folder), name)
    const found = await lstat(path, { bigint: true }).catch(() => null)
    if (String(found?.ino) === inode) return void (await Promise.all(read.map((one) => rm(one))))
    read.push(path)
  }
}

/** Caddy may rotate the files while they are listed. */
const maxRetries = 5

/** All files of the log, oldest first. */
async function openFiles(folder: string): Promise<LogFile[]> {
  for (let tries = 1; ; tries++) {
    const names = await namesIn(folder)
    const files: LogFile[] = []
    for (const name of names) {
      const path = join(accessFolder(folder), name)
      // without following links, and without blocking on a pipe
      const handle = await open(path, flags).catch(() => null)
      if (!handle) continue
      const { ino, size } = await handle.stat({ bigint: true })
      const isFull = path !== accessFile(folder)
      files.push({ handle, inode: String(ino), size: Number(size), isFull })
    }
    const isWhole = files.length === names.length
    if ((isWhole && Bun.deepEquals(names, await namesIn(folder))) || tries === maxRetries)
      return files
    await Promise.all(files.map(({ handle }) => handle.close()))
  }
}

const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK

/** A rotated file's time sorts before the name without one. */
async function namesIn(folder: string) {
  const names = await readdir(accessFolder(folder)).catch(() => [])
  return names.filter((name) => /^access(-[\w.-]+)?\.log$/.test(name)).sort()
}

async function indexOf(files: LogFile[], { inode, offset, head }: AccessPosition) {
  for (const [at, file] of files.entries())
    if (file.inode === inode && file.size >= offset && (await headOf(file, offset)) === head)
      return at
  return null
}

const positionIn = async (file: LogFile, offset: number): Promise<AccessPosition> => ({
  inode: file.inode,
  offset,
  head: await headOf(file, offset),
})

async function headOf({ handle }: LogFile, offset: number) {
  const bytes = Buffer.alloc(Math.min(headSize, offset))
  await handle.read(bytes, 0, bytes.length, 0)
  return Bun.hash(bytes).toString(36)
}

async function readFile({ handle }: LogFile, from: number) {
  for (let size = piece; ; size *= 4) {
    const buffer = Buffer.allocUnsafe(size)
    const { bytesRead } = await handle.read(buffer, 0, size, from)
    const end = buffer.subarray(0, bytesRead).lastIndexOf('\n') + 1
    const isEnd = bytesRead < size
    if (end > 0) {
      const lines = buffer.toString('utf8', 0, end - 1).split('\n')
      return { lines, offset: from + end, isEnd }
    }
    if (isEnd) return { lines: [], offset: from, isEnd }
    // skips the rest of it up to its end, which isn't a line
    if (size >= longestLine) return { lines: [''], offset: from + size, isEnd: false }
  }
}
