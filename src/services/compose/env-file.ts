import { keyRule, parseDotenv } from '../../environments/dotenv.ts'
import { invalidField } from '../../platform/errors.ts'
import type { Lookup } from './interpolate.ts'
import { interpolateText, roomForFile, unsetIn } from './interpolate.ts'

export const envFormats = ['dotenv', 'raw'] as const

type Options = {
  /** Named by errors. */
  file?: string
  lookup: Lookup
  format?: (typeof envFormats)[number]
  /** True when its references were expanded before, with the file that contains it. */
  isExpanded?: boolean
  /** Called for each reference without a value, which becomes empty. */
  onUnset?: (name: string, key: string) => void
}

/**
 * Reads a `.env` or `env_file` by Compose's rules. A reference gets the instance's value, or that of an
 * earlier line. Throws `invalid` with the line.
 */
export function readEnvFile(
  text: string,
  { file = '.env', lookup, format = 'dotenv', isExpanded = false, onUnset }: Options,
): Map<string, string> {
  if (format === 'raw') return readRaw(text, file, lookup)
  const room = roomForFile()
  return parseDotenv(text, {
    field: 'env',
    mayBeEmpty: true,
    compose: {
      file,
      lookup,
      expand(value, { key, before }) {
        if (isExpanded || !value.includes('$')) return value
        const known = (name: string) => lookup(name) ?? before.get(name)
        if (onUnset) for (const name of unsetIn(value, known)) onUnset(name, key)
        return interpolateText(value, known, room)
      },
    },
  })
}

/** Returns a note for each reference in a `.env` that has no value, as Compose warns. */
export function notesOn(text: string, lookup: Lookup) {
  const notes = new Set<string>()
  const onUnset = (name: string, key: string) =>
    notes.add(
      `.env: ${key} takes the value of ${name}, which has none. For a dollar sign write $$, or put the value in single quotes.`,
    )
  readEnvFile(text, { lookup, onUnset })
  return notes
}

/** Values are literal, including quotes, dollar signs and comment signs. */
function readRaw(text: string, file: string, lookup: Lookup) {
  const found = new Map<string, string>()
  const lines = text.replace(/^\uFEFF/, '').split(/\r?\n/)
  for (const [index, line] of lines.entries()) {
    if (/^\s*(#|$)/.test(line)) continue
    const [, key, value] = /^\s*([A-Za-z_][\w.-]{0,199})(?:=(.{0,100000}))?$/s.exec(line) ?? []
    if (key === undefined)
      throw invalidField('env', `Line ${index + 1} of ${file} isn’t KEY=value. ${keyRule}`)
    const given = value ?? lookup(key)
    if (given !== undefined) found.set(key, given)
  }
  return found
}
