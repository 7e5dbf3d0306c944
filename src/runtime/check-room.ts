import { leastFree, roomHint, spaceOf } from '../platform/disk-space.ts'
import { Failure } from '../platform/errors.ts'
import { bytes } from '../web/units.ts'

/**
 * Throws on a nearly full disk: a full one would stop the apps' databases and Davit. A disk that can't be
 * checked from here is left to the engine.
 */
export async function checkRoom(
  folder: string,
  {
    whose,
    what,
    more = 0,
  }: {
    whose: 'Davit' | 'Docker'
    what: 'a build' | 'another image' | 'a test restore' | 'copies of SQLite databases'
    /** Bytes that it will certainly use. */
    more?: number
  },
) {
  const space = await spaceOf(folder)
  const needed = space ? leastFree(space) + more : 0
  if (!space || space.free >= needed) return
  throw new Failure(
    'low_disk',
    `The disk of ${whose} is too full for ${what}: ${bytes(space.free)} are free, but ${bytes(needed)} are needed.`,
    roomHint,
  )
}
