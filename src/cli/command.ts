import { parseArgs } from 'node:util'
import type { ParseArgsConfig } from 'node:util'
import { inLines } from '../platform/terminal-text.ts'

export type Environment = Record<string, string | undefined>

/** Resolves with the exit status. */
export type Command = (args: string[], env: Environment) => Promise<number>

/** Wrong arguments; the message is the one line to print. */
export class UsageError extends Error {}

type Options = NonNullable<ParseArgsConfig['options']>

/** Requires exactly the named arguments, with options in any order. */
export function readArguments<
  Names extends readonly string[],
  Known extends Options,
  Optional extends string = never,
>(
  args: string[],
  {
    usage,
    names,
    optional,
    options,
  }: {
    usage: string
    names: Names
    /** One more argument, which may be omitted. */
    optional?: Optional
    options: Known
  },
) {
  const { values, positionals } = parsed(args, options, usage)
  const most = names.length + (optional === undefined ? 0 : 1)
  if (positionals.length < names.length || positionals.length > most)
    throw new UsageError(`usage: ${usage}`)
  const all = [...names, ...(optional === undefined ? [] : [optional])]
  const given = Object.fromEntries(all.map((name, at) => [name, positionals[at]]))
  return {
    ...values,
    ...(given as Record<Names[number], string> & Partial<Record<Optional, string>>),
  }
}

function parsed<Known extends Options>(args: string[], options: Known, usage: string) {
  try {
    return parseArgs({ args, options, allowPositionals: true, strict: true })
  } catch (cause) {
    throw new UsageError(`usage: ${usage}`, { cause })
  }
}

export const print = (...lines: string[]) =>
  void process.stdout.write(`${inLines(lines.join('\n'))}\n`)

export const warn = (line: string) => void process.stderr.write(`davit: ${inLines(line)}\n`)
