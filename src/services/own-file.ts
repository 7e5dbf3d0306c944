import { invalidField } from '../platform/errors.ts'
import { parse } from '../platform/parse.ts'
import { Source } from '../platform/yaml-source.ts'
import type { openOwnFile } from './compose/open.ts'
import type { Template } from './compose/template.ts'

/** Takes the place of a template's name for a user's own file. */
export const ownFile = 'compose'

const known = new Map<string, Template>()
const maxKnown = 8

/**
 * Reads a user's own file and the text of its `.env` on a worker thread, as a crafted text can take a quarter
 * of a second. Only one at a time for each owner.
 */
export async function readOwnFile(
  compose: string,
  env: string | null,
  { owner, signal }: { owner: string; signal?: AbortSignal | undefined },
): Promise<Template> {
  const key = `${env ?? '\0'}\0${compose}`
  const found = known.get(key)
  if (found) return found
  const args: Parameters<typeof openOwnFile> = [compose, env, { name: ownFile }]
  const options = { tooLong, owner, signal }
  const file = fromThread(await parse<typeof openOwnFile>('openOwnFile', args, options))
  known.set(key, file)
  if (known.size > maxKnown) known.delete(known.keys().next().value!)
  return file
}

/** What comes from another thread has lost its class. */
export function fromThread({ source: { file, field, places }, ...template }: Template): Template {
  return { ...template, source: new Source(file, field, places) }
}

const tooLong = () =>
  invalidField('compose', 'took too long to read. Shorten it, with fewer aliases and variables.')
