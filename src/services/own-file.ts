import { parseDotenv } from '../environments/dotenv.ts'
import { AppError, invalidField } from '../platform/errors.ts'
import { parse } from '../platform/parse.ts'
import { openTemplate } from './compose/open.ts'
import { pack, unpack } from './compose/packed.ts'
import type { PackedTemplate } from './compose/packed.ts'
import type { Template } from './compose/template.ts'

/** The name under which a file of the user's own stands where others have a template's name. */
export const ownFile = 'compose'

/** Of one user at a time. */
type Reader = { owner: string; signal?: AbortSignal | undefined }

/** Files that were read last, by their text: each is needed several times in a request, and takes long to read. */
const known = new Map<string, Template>()
const mostKnown = 8

/**
 * A file of the user's own, with the text of the `.env` beside it, read by a worker: a text can be made to
 * take a quarter of a second. Whoever has awaited it may open the same text at once, with `openOwnFile`.
 */
export async function readOwnFile(
  compose: string,
  env: string | null,
  { owner, signal }: Reader,
): Promise<Template> {
  const found = known.get(keyOf(compose, env))
  if (found) return found
  const packed = await parse({ packOwnFile }, [compose, env], { tooLong, owner, signal })
  return remember(compose, env, unpack(packed))
}

/** The same without waiting, for text that was read before. */
export const openOwnFile = (compose: string, env: string | null): Template =>
  known.get(keyOf(compose, env)) ?? remember(compose, env, open(compose, env))

/** What a worker does for it. */
export const packOwnFile = (compose: string, env: string | null): PackedTemplate =>
  pack(open(compose, env))

function open(compose: string, env: string | null): Template {
  const origin = { file: 'compose.yaml', field: 'compose' }
  return openTemplate(compose, origin, {
    name: ownFile,
    ...(env !== null && { env: pairsOf(env) }),
  })
}

function remember(compose: string, env: string | null, template: Template) {
  const key = keyOf(compose, env)
  known.delete(key)
  known.set(key, template)
  if (known.size > mostKnown) known.delete(known.keys().next().value!)
  return template
}

const keyOf = (compose: string, env: string | null) => `${env ?? '\0'}\0${compose}`

const tooLong = () =>
  invalidField(
    'compose',
    'took too long to read. Make it shorter, with fewer aliases and variables.',
  )

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
