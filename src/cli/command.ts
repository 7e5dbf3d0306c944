import { parseArgs } from 'node:util'
import type { ParseArgsConfig } from 'node:util'
import { inLines } from '../platform/terminal-text.ts'

export type Environment = Record<string, string | undefined>

/** Resolves with the exit status. */
export type Command = (args: string[], env: Environment) => Promise<number>

/** Wrong arguments; the message is the one line to print. */
export class UsageError extends Error {}

export type Options = NonNullable<ParseArgsConfig['options']>

/** Requires exactly the named arguments, and takes the optional one, with options in any order. */
export function readArguments<
  Known extends Options,
  Name extends string = never,
  Optional extends string = never,
>(args: string[], read: { usage: string; names?: Name[]; optional?: Optional; options: Known }) {
  const { usage, names = [], optional } = read
  const { values, words } = readMany(args, read)
  const all = optional === undefined ? names : [...names, optional]
  if (words.length < names.length || words.length > all.length)
    throw new UsageError(`usage: ${usage}`)
  const given = Object.fromEntries(all.map((name, at) => [name, words[at]]))
  return { ...values, ...(given as Record<Name, string> & Partial<Record<Optional, string>>) }
}

/** Options in any order, and any number of words. */
export function readMany<Known extends Options>(
  args: string[],
  { usage, options }: { usage: string; options: Known },
) {
  try {
    const read = parseArgs({ args, options, allowPositionals: true, strict: true })
    return { values: read.values, words: read.positionals }
  } catch (cause) {
    throw new UsageError(`usage: ${usage}`, { cause })
  }
}

export const print = (...lines: string[]) =>
  void process.stdout.write(`${inLines(lines.join('\n'))}\n`)

export const warn = (line: string) => void process.stderr.write(`davit: ${inLines(line)}\n`)
