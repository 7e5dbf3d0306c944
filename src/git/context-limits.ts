import { Failure } from '../platform/errors.ts'
import { bytes } from '../web/units.ts'
import { readSizes } from './objects.ts'
import type { Entry, Objects } from './objects.ts'

const mostFiles = 100_000

/** The engine unpacks all of it, on the disk that the apps have too. */
export async function refuseLarge(objects: Objects, entries: Entry[]) {
  if (entries.length > mostFiles)
    throw tooMuch(`${inWords(entries.length)} files, of at most ${inWords(mostFiles)}`)
  const sizes = await readSizes(objects, [...new Set(entries.map(({ hash }) => hash))])
  const size = entries.reduce((sum, { hash }) => sum + (sizes.get(hash) ?? 0), 0)
  const most = objects.tools.limits.size
  if (size > most) throw tooMuch(`${bytes(size)} of files, of at most ${bytes(most)}`)
}

const inWords = (count: number) => count.toLocaleString('en')

const tooMuch = (what: string) =>
  new Failure(
    'context_too_large',
    `The build would see ${what}.`,
    'Leave out with .dockerignore what the build does not need, or choose a smaller context directory.',
  )
