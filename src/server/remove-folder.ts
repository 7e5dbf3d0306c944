import { lstatSync, readdirSync, realpathSync, rmSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Removes a folder and its contents, and if it is a link, also the link's
 * target. A mount point can't be removed and stays, empty.
 */
export function removeFolder(path: string) {
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (found?.isSymbolicLink()) {
    const target = targetOf(path)
    if (target !== null) removeTree(target)
  }
  removeTree(path)
}

/** True when only mount points are left. */
export function isEmptied(path: string): boolean {
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (!found) return true
  return found.isDirectory() && readdirSync(path).every((name) => isEmptied(join(path, name)))
}

function removeTree(path: string) {
  try {
    rmSync(path, { recursive: true, force: true })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EBUSY') throw error
    // rmSync stops at the first mount point: remove the rest
    for (const name of readdirSync(path)) removeTree(join(path, name))
  }
}

function targetOf(link: string) {
  try {
    return realpathSync(link)
  } catch {
    return null // a broken link
  }
}
