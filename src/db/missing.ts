import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { Failure } from '../platform/errors.ts'

/** For what needs a Davit that has been started before: throws where there is none. */
export function refuseMissing(dataDir: string) {
  if (existsSync(join(dataDir, 'davit.db'))) return
  throw new Failure(
    'nothing_there',
    `There is no Davit in ${dataDir}.`,
    'Set DAVIT_DATA_DIR to where it keeps its data.',
  )
}
