import type { Db } from '../../db/index.ts'
import type { Docker } from '../../docker/index.ts'
import { forgetImage } from './store.ts'

/**
 * Removes an image by its references. Returns "needed" when a deployment runs from it or is about to. No
 * rollback to it can start once the removal has begun; if it fails, they can again. Throws the engine's
 * refusal.
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
