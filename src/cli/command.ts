import { parseArgs } from 'node:util'
import type { ParseArgsConfig } from 'node:util'

export type Environment = Record<string, string | undefined>

/** Does what a subcommand is for; resolves with the exit status. */
export type Command = (args: string[], env: Environment) => Promise<number>

/** A wrong call; its message is the one line to print. */
export class UsageError extends Error {}

type Options = NonNullable<ParseArgsConfig['options']>

/** The arguments of a subcommand: exactly the named ones, and options in any order. */
export function readArguments<Names extends readonly string[], Known extends Options>(
  args: string[],
  { usage, names, options }: { usage: string; names: Names; options: Known },
) {
  const { values, positionals } = parsed(args, options, usage)
  if (positionals.length !== names.length) throw new UsageError(`it is called as: ${usage}`)
  const given = Object.fromEntries(names.map((name, at) => [name, positionals[at]!]))
  return { ...values, ...(given as Record<Names[number], string>) }
}

function parsed<Known extends Options>(args: string[], options: Known, usage: string) {
  try {
    return parseArgs({ args, options, allowPositionals: true, strict: true })
  } catch (cause) {
    throw new UsageError(`it is called as: ${usage}`, { cause })
  }
}

export const print = (...lines: string[]) => void process.stdout.write(`${lines.join('\n')}\n`)

export const warn = (line: string) => void process.stderr.write(`davit: ${line}\n`)
