import { parseConfig, unknownSettings } from '../config.ts'
import { journal } from '../platform/journal.ts'
import { serve as serveUntilEnd } from '../serve.ts'
import { UsageError } from './command.ts'
import type { Command } from './command.ts'

export const serve: Command = async (args, env) => {
  if (args.length > 0) throw new UsageError(`there is no command serve ${args.join(' ')}.`)
  const config = parseConfig(env)
  for (const name of unknownSettings(env))
    journal.warn(`${name} is not a setting of this version of Davit`)
  await serveUntilEnd(config)
  return 0
}
