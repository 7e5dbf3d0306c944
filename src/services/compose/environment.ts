import { AppError } from '../../platform/errors.ts'
import { containerLimits } from '../../platform/limits.ts'
import { envFormats, readEnvFile } from './env-file.ts'
import type { Field } from './field.ts'
import { quote } from './field.ts'
import type { Lookup } from './interpolate.ts'
import type { Repository } from './model.ts'
import { normalPath } from './mounts.ts'

/** What a Compose file refers to: files beside it, and values of variables. */
export type ReadOptions = {
  files?: ReadonlyMap<string, string>
  /** The files whose references are already expanded. */
  expanded?: ReadonlySet<string>
  lookup?: Lookup
  /**
   * True for a file of another platform, which keeps directories for relative paths and creates undeclared
   * volumes. Here, each becomes a named volume.
   */
  foreign?: boolean
  /** Set for a file in a repository, whose services may be built. */
  repository?: Repository | null
}

export type Outside = Required<ReadOptions>

const maxValueBytes = 32 * 1024
const envKey = /^[A-Za-z_][A-Za-z0-9_.-]{0,255}$/

/** A key without a value gets the value of the variable with its name, and is omitted if there is none. */
export function environmentOf(
  environment: Field,
  envFile: Field,
  outside: Pick<Outside, 'files' | 'lookup' | 'expanded' | 'repository'>,
): Map<string, string> {
  const found = new Map<string, string>()
  for (const file of envFile.oneOrMore())
    for (const pair of envFileOf(file, outside)) found.set(...pair)
  for (const [key, field, value] of pairsOf(environment)) {
    if (!envKey.test(key))
      throw field.refuse(`has the name ${quote(key)}. Use letters, digits, _ . and -.`)
    const given = value ?? outside.lookup(key)
    if (given === undefined) continue
    if (given.includes('\0') || Buffer.byteLength(given) > maxValueBytes)
      throw field.refuse(`sets ${key} to a value over 32 KiB or with a NUL. Shorten it.`)
    found.set(key, given)
  }
  return found
}

/** Reads `[KEY=value]` or `{KEY: value}`; null for a key without a value. */
export function pairsOf(field: Field): [string, Field, string | null][] {
  if (!field.isList)
    return field
      .entries()
      .map(([key, value]) => [key, value, value.absent ? null : value.text('one value')])
  return field.items().map((item) => {
    const text = item.text('an entry such as KEY=value')
    const at = text.indexOf('=')
    return at === -1 ? [text, item, null] : [text.slice(0, at), item, text.slice(at + 1)]
  })
}

/** Like `pairsOf`, but a missing value is an empty one. */
export function labelsOf(field: Field): Map<string, string> {
  const labels = new Map<string, string>()
  for (const [key, item, value] of pairsOf(field)) {
    if (!/^[^\s=\p{Cc}]{1,256}$/u.test(key) || key.startsWith('davit.'))
      throw item.refuse(
        `has the label ${quote(key)}, which is reserved by Davit or invalid. Rename it.`,
      )
    labels.set(key, value ?? '')
  }
  if (labels.size > 0)
    field.note(
      'get names that begin with “label.”, so that no other program on the server obeys them.',
    )
  const size = [...labels].flat().reduce((sum, text) => sum + text.length, 0)
  if (size > containerLimits.listed)
    throw field.refuse(`can be at most ${containerLimits.listed / 1024} KiB in total. Remove some.`)
  return labels
}

function envFileOf(
  field: Field,
  { files, lookup, expanded, repository }: Parameters<typeof environmentOf>[2],
): Map<string, string> {
  if (field.isMap) field.only(['path', 'required', 'format'])
  const named = field.isMap ? field.get('path') : field
  const path = normalPath(named.text('a file such as .env'))
  const format = field.get('format').or('dotenv' as const, (f) => f.oneOf(envFormats))
  const required = field.get('required').or(true, (r) => r.flag())
  const text = files.get(path)
  if (text === undefined && required)
    throw named.refuse(
      repository
        ? `needs the file ${quote(path)}, which isn’t in the repository. Add it, or set required: false.`
        : `needs the file ${quote(path)}. Add its content to this file.`,
    )
  try {
    return readEnvFile(text ?? '', { file: path, lookup, format, isExpanded: expanded.has(path) })
  } catch (error) {
    if (error instanceof AppError) throw named.refuse(`can’t be read: ${error.message}`)
    throw error
  }
}
