import { parseArgs } from 'node:util'
import type { ParseArgsConfig } from 'node:util'
import { UsageError } from '../cli/command.ts'

type Options = NonNullable<ParseArgsConfig['options']>

/** Options in any order, and any number of words. */
export function readMany<Known extends Options>(
  args: string[],
  { usage, options }: { usage: string; options: Known },
) {
  try {
    const { values, positionals } = parseArgs({
      args,
      options,
      allowPositionals: true,
      strict: true,
    })
    return { values, words: positionals }
  } catch (cause) {
    throw new UsageError(`usage: ${usage}`, { cause })
  }
}

/** Options, and then a command with options of its own. */
export function readBeforeCommand<Known extends Options>(
  args: string[],
  { usage, options }: { usage: string; options: Known },
) {
  let at = 0
  while (at < args.length && args[at]!.startsWith('-') && args[at] !== '--') {
    const [, name, value] = /^--?([\w-]+)(=.*)?$/.exec(args[at]!) ?? []
    const takesNext = value === undefined && options[name ?? '']?.type === 'string'
    at += takesNext ? 2 : 1
  }
  const { values } = readMany(args.slice(0, at), { usage, options })
  const command = args.slice(args[at] === '--' ? at + 1 : at)
  if (command.length === 0) throw new UsageError(`usage: ${usage}`)
  return { values, command }
}
