import type { Db } from '../../db/index.ts'
import type { Docker } from '../../docker/index.ts'
import { forgetImage } from './store.ts'

/**
 * Removes an image by its references; "needed" where a deployment runs from one or works with it. No
 * rollback to it begins from the moment before; where it does not go, one may again. Throws as the
 * engine refuses.
 */
export async function removeImage(
  { db, docker }: { db: Db; docker: Docker },
  references: string[],
): Promise<'removed' | 'gone' | 'needed'> {
  const undo: (() => void)[] = []
  let went = false
  try {
    for (const reference of references) {
      const remember = forgetImage(db, reference)
      if (!remember) return 'needed'
      undo.push(remember)
    }
    for (const reference of references) {
      went = (await docker.removeImage(reference)) || went
      undo.shift()
    }
    return went ? 'removed' : 'gone'
  } finally {
    for (const remember of undo) remember()
  }
}
