import { invalidField } from '../platform/errors.ts'
import { parse } from '../platform/parse.ts'
import { readEnvFile } from './compose/env-file.ts'
import { openTemplate } from './compose/open.ts'
import { pack, unpack } from './compose/packed.ts'
import type { PackedTemplate } from './compose/packed.ts'
import type { Template } from './compose/template.ts'

/** Takes the place of a template's name for a user's own file. */
export const ownFile = 'compose'

/** The files that were read last, by their text. */
const known = new Map<string, Template>()
const mostKnown = 8

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
  const file = unpack(await parse({ packOwnFile }, [compose, env], { tooLong, owner, signal }))
  known.set(key, file)
  if (known.size > mostKnown) known.delete(known.keys().next().value!)
  return file
}

/** Runs on the worker. */
export function packOwnFile(compose: string, env: string | null): PackedTemplate {
  const origin = { file: 'compose.yaml', field: 'compose' }
  const pairs = env === null ? {} : { env: defaultsIn(env) }
  return pack(openTemplate(compose, origin, { name: ownFile, ...pairs }))
}

/** A default that refers to an unset value is omitted, and computed once that is set. */
function defaultsIn(env: string) {
  const waiting: string[] = []
  const onUnset = (_: string, key: string) => waiting.push(key)
  const pairs = readEnvFile(env, { lookup: () => undefined, onUnset })
  for (const key of waiting) pairs.delete(key)
  return pairs
}

const tooLong = () =>
  invalidField('compose', 'took too long to read. Shorten it, with fewer aliases and variables.')
