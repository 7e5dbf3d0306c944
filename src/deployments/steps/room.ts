import { leastFree, roomHint, spaceOf } from '../../platform/disk-space.ts'
import { Failure } from '../../platform/errors.ts'
import { bytes } from '../../web/units.ts'

/**
 * Begins nothing on a disk that it could fill, which would stop the databases of the apps, and Davit.
 * A disk that can't be seen from here is left to the engine.
 */
export async function checkRoom(folder: string, whose: string) {
  const space = await spaceOf(folder)
  if (!space || space.free >= leastFree(space)) return
  throw new Failure(
    'low_disk',
    `The disk of ${whose} is too full to build on: ${bytes(space.free)} are free, and ${bytes(leastFree(space))} must be.`,
    roomHint,
  )
}
