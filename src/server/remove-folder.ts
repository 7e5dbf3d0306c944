import { lstatSync, readdirSync, realpathSync, rmSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Removes a folder with all that is in it. It may be a link to one, which goes too. What is mounted can’t be removed:
 * that stays, empty.
 */
export function removeFolder(path: string) {
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (found?.isSymbolicLink()) {
    const target = targetOf(path)
    if (target !== null) removeTree(target)
  }
  removeTree(path)
}

/** Whether nothing is left but what is mounted. */
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
    // it ends at the first mount: what else is there
    for (const name of readdirSync(path)) removeTree(join(path, name))
  }
}

function targetOf(link: string) {
  try {
    return realpathSync(link)
  } catch {
    return null // it leads nowhere
  }
}
