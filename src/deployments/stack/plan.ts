import type { OpenDirectory } from '../../git/directory.ts'
import { composeFilesIn } from '../../git/missing-path.ts'
import { AppError, Failure } from '../../platform/errors.ts'
import { parse } from '../../platform/parse.ts'
import type { planStack, StackPlan, StackQuestion } from '../../services/compose/repository.ts'
import { bytes } from '../../web/units.ts'

export type { StackPlan } from '../../services/compose/repository.ts'

type Query = Pick<StackQuestion, 'file' | 'values' | 'service' | 'isSample' | 'limits'> & {
  owner: string
  signal: AbortSignal
}

type Texts = StackQuestion['texts']

/** Of all files that a Compose file names: they are stored with the deployment. */
const limits = { files: 200, size: 1024 * 1024 }

/** Each time, further files are named by those that were read. */
const maxRounds = 20

/**
 * Reads the Compose file of a commit, and the files that it names: all are of the repository.
 *
 * @throws Failure `compose_missing`, `compose_invalid`, `compose_too_large`, `path_outside`.
 */
export async function planFrom(
  directory: Pick<OpenDirectory, 'paths' | 'read' | 'follow'>,
  query: Query,
): Promise<{ plan: StackPlan; texts: Record<string, string> }> {
  const known = new Set(directory.paths)
  const texts: Texts = {}
  let size = 0
  await read(query.file)
  if (texts[query.file] === null) throw missing(query.file, directory.paths)
  for (let round = 0; round < maxRounds; round++) {
    const answer = await ask(query, texts)
    if ('plan' in answer) {
      const kept = Object.entries(texts).filter(([, text]) => text !== null)
      return { plan: answer.plan, texts: Object.fromEntries(kept) as Record<string, string> }
    }
    for (const path of answer.needs) await read(path)
  }
  throw tooLarge(query, `names files of files more than ${maxRounds} deep`)

  async function read(path: string) {
    if (Object.keys(texts).length > limits.files)
      throw tooLarge(query, `names more than ${limits.files} files`)
    const place = await directory.follow(path)
    query.signal.throwIfAborted()
    texts[path] = known.has(place) ? await textOf(path, place) : null
    if (known.has(place)) return
    const prefix = place === '' ? '' : `${place}/`
    const below = directory.paths.filter((one) => one.startsWith(prefix))
    if (below.length > limits.files)
      throw tooLarge(query, `mounts ${path}, which has ${below.length} files`)
    for (const one of below) {
      const named = `${path}/${one.slice(prefix.length)}`
      texts[named] = await textOf(named, one)
    }
  }

  async function textOf(path: string, place: string) {
    const text = await directory.read(place, { max: limits.size })
    query.signal.throwIfAborted()
    size += text?.length ?? Infinity
    if (text === null || size > limits.size) throw tooLarge(query, `names ${path} and others`)
    if (/[\0\uFFFD]/.test(text))
      throw invalid(
        `${query.file} names ${path}, which isn’t text. Copy it in a Dockerfile instead.`,
      )
    return text
  }
}

/** Of a deployment whose files are known. */
export async function planAgain(query: Query, texts: Record<string, string>): Promise<StackPlan> {
  const known: Texts = { ...texts }
  for (let round = 0; round < maxRounds; round++) {
    const answer = await ask(query, known)
    if ('plan' in answer) return answer.plan
    for (const path of answer.needs) known[path] = null
  }
  throw tooLarge(query, 'names other files than those of its commit')
}

async function ask({ owner, signal, limits, ...question }: Query, texts: Texts) {
  const work = { owner, signal, tooLong: () => tooLarge(question, 'takes too long to read') }
  const limited = limits && { memoryMb: limits.memoryMb, cpus: limits.cpus } // not its other settings
  const asked = { ...question, texts, limits: limited }
  try {
    return await parse<typeof planStack>('planStack', [asked], work)
  } catch (error) {
    throw error instanceof AppError ? invalid(error.message) : error
  }
}

const invalid = (message: string) =>
  new Failure('compose_invalid', message, 'Correct the file, and push it.')

const tooLarge = ({ file }: Pick<Query, 'file'>, why: string) =>
  new Failure(
    'compose_too_large',
    `The Compose file ${file} ${why}. It may name ${limits.files} files of ${bytes(limits.size)} together.`,
    'Copy larger files in a Dockerfile, and use named volumes for what services write.',
  )

function missing(file: string, paths: string[]) {
  const others = composeFilesIn(paths).slice(0, 5)
  return new Failure(
    'compose_missing',
    `The Compose file ${file} isn’t in the repository.`,
    others.length > 0
      ? `The repository has ${others.join(', ')}. Change the path in the settings of the project.`
      : 'Add it, or clear its path in the settings of the project.',
  )
}

/** Throws when the user has to choose the service with the addresses. */
export function webOf({ web, choices }: StackPlan) {
  if (web !== null) return web
  throw new Failure(
    'compose_service_unknown',
    `Several services could have the addresses: ${choices.join(', ')}.`,
    'Choose one of them in the settings of the project.',
  )
}
