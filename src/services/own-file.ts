import { parseDotenv } from '../environments/dotenv.ts'
import { AppError, invalidField } from '../platform/errors.ts'
import { parse } from '../platform/parse.ts'
import { openTemplate } from './compose/open.ts'
import { pack, unpack } from './compose/packed.ts'
import type { PackedTemplate } from './compose/packed.ts'
import type { Template } from './compose/template.ts'

/** The name under which a file of the user's own stands where others have a template's name. */
export const ownFile = 'compose'

/** The files that were read last, by their text. */
const known = new Map<string, Template>()
const mostKnown = 8

/**
 * Reads the user's own file, with the text of the `.env` beside it, on a worker: a crafted text can
 * take a quarter of a second. One at a time for each owner.
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

/** What a worker does for it. */
export function packOwnFile(compose: string, env: string | null): PackedTemplate {
  const origin = { file: 'compose.yaml', field: 'compose' }
  return pack(
    openTemplate(compose, origin, {
      name: ownFile,
      ...(env !== null && { env: pairsOf(env) }),
    }),
  )
}

const tooLong = () =>
  invalidField('compose', 'took too long to read. Shorten it, with fewer aliases and variables.')

/** The pairs of a `.env`, which may hold none. */
export function pairsOf(env: string): Map<string, string> {
  if (!/^\s*[^#\s]/m.test(env)) return new Map()
  try {
    return parseDotenv(env)
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    throw invalidField(
      'env',
      error.message.replace(/^dotenv /, '').replace(' Nothing was stored.', ''),
    )
  }
}
