import type { ZodType } from 'zod'
import { maxText, packageFile } from '../detection/manifests.ts'
import type { Directory } from '../git/directory.ts'
import { AppError, Failure } from '../platform/errors.ts'
import { parse } from '../platform/parse.ts'
import type { DavitText, Mistake, placeMistakes, readDavitText } from './davit-text.ts'

/** At the root of a context; only one of them may have settings. */
export const davitFiles = ['davit.yaml', 'davit.json', packageFile]

/** In bytes: far more than the settings of one app. */
const mostSettings = 64 * 1024

export const mostTextOf = (file: string) => (file === packageFile ? maxText : mostSettings)

export type Rules<Settings> = {
  schema: ZodType<Settings>
  /** Says why a key isn't one of them. */
  unknown: (path: Mistake['path']) => string
  /** What the schema can't know. */
  check?: (settings: Settings) => Mistake[]
}

type Options = { owner?: string; signal?: AbortSignal }

/** What a file sets, or what is wrong with it, each with line and column. */
type Checked<Settings> = { settings: Settings } | { mistakes: string[] }

/**
 * Null without settings.
 *
 * @throws Failure `davit_file_invalid`.
 */
export async function readDavitFile<Settings>(
  { paths, read }: Pick<Directory, 'paths' | 'read'>,
  rules: Rules<Settings>,
  options: Options & { signal: AbortSignal },
): Promise<{ file: string; settings: Settings } | null> {
  const found: { file: string; settings: Settings }[] = []
  for (const file of davitFiles) {
    if (!paths.includes(file)) continue
    const text = await read(file, { max: mostTextOf(file) }).catch((error) => {
      // A package.json is others' file: that it is a link out of the repository is for them to refuse.
      if (error.code === 'path_outside' && file === packageFile) return null
      throw error
    })
    options.signal.throwIfAborted()
    if (text === null && file === packageFile) continue
    if (text === null) throw davitFileInvalid([tooLarge(file)])
    const checked = await checkDavitText({ file, text }, rules, options)
    if (checked === null) continue
    if ('mistakes' in checked) throw davitFileInvalid(checked.mistakes)
    found.push({ file, ...checked })
  }
  const [first = null, second] = found
  if (first && second) throw davitFileInvalid([bothSet(first.file, second.file)])
  return first
}

export async function checkDavitText<Settings>(
  given: DavitText,
  { schema, unknown, check = () => [] }: Rules<Settings>,
  options: Options,
): Promise<Checked<Settings> | null> {
  const work = { ...options, tooLong: () => new AppError('invalid', tooHard(given.file)) }
  try {
    const value = await parse<typeof readDavitText>('readDavitText', [given], work)
    if (value === undefined) return null
    const { data, error } = schema.safeParse(value)
    const mistakes = error
      ? error.issues.flatMap((issue): Mistake[] => {
          const { code, message } = issue
          const path = issue.path as Mistake['path']
          if (code === 'unrecognized_keys')
            return issue.keys.map((key) => ({
              path: [...path, key],
              message: unknown([...path, key]),
            }))
          const inside = code === 'custom' ? (issue.params?.inside ?? []) : []
          return [{ path, inside, message }]
        })
      : check(data)
    if (mistakes.length === 0) return { settings: data! }
    const shown: [DavitText, Mistake[]] = [given, mistakes.slice(0, mostMistakes)]
    return { mistakes: await parse<typeof placeMistakes>('placeMistakes', shown, work) }
  } catch (error) {
    if (error instanceof AppError) return { mistakes: [error.message] }
    throw error
  }
}

const mostMistakes = 20

export const davitFileInvalid = (mistakes: string[]) =>
  new Failure(
    'davit_file_invalid',
    mistakes.slice(0, 3).join(' '),
    'Correct the file, and push it. The command davit check names every mistake in it.',
  )

export const bothSet = (first: string, second: string) =>
  `Both ${first} and ${second} have settings. Keep one.`

export const tooLarge = (file: string) => `${file} is larger than ${mostSettings / 1024} KiB.`

const tooHard = (file: string) => `${file} took too long to read. Shorten it.`

export const whereSet = ({ file }: { file: string }) =>
  `comes from ${file} in the repository. Change it there.`
