import { readlinkSync, renameSync, rmSync, symlinkSync } from 'node:fs'

/** Null where there is no link. */
export function targetOf(path: string) {
  try {
    return readlinkSync(path)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'EINVAL') return null
    throw error
  }
}

/** Atomically: who reads it meanwhile finds the target before or this one. `draft` is a free place beside it. */
export function pointTo(path: string, target: string, draft: string) {
  rmSync(draft, { force: true })
  symlinkSync(target, draft)
  renameSync(draft, path)
}
