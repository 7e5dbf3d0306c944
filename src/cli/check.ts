import { existsSync, readFileSync, statSync } from 'node:fs'
import { basename } from 'node:path'
import { davitRules } from '../environments/davit-form.ts'
import { AppError } from '../platform/errors.ts'
import { checkDavitText, davitFiles, mostTextOf, tooLarge } from '../projects/davit-file.ts'
import { snakeCase } from '../web/body.ts'
import { print, readArguments } from './command.ts'
import type { Command } from './command.ts'

/** Checks a davit.yaml as a deployment does, but for the limits of an environment. */
export const check: Command = async (args) => {
  const { file = davitFiles.find((name) => existsSync(name)) } = readArguments(args, {
    usage: 'davit check [FILE]',
    names: [] as const,
    optional: 'file',
    options: {},
  })
  if (file === undefined)
    throw new AppError('not_found', `There is no ${davitFiles.join(', ')} here. Name the file.`)
  const given = { file: basename(file), text: readText(file) }
  const checked = await checkDavitText(given, davitRules(), {})
  if (checked === null) print(`${file}: no settings for Davit.`)
  else if ('mistakes' in checked) print(...checked.mistakes)
  else print(`${file}: sets ${Object.keys(checked.settings).map(snakeCase).join(', ')}.`)
  return checked !== null && 'mistakes' in checked ? 1 : 0
}

function readText(file: string) {
  const found = statSync(file, { throwIfNoEntry: false })
  if (!found?.isFile()) throw new AppError('not_found', `There is no file ${file}.`)
  if (found.size > mostTextOf(basename(file))) throw new AppError('invalid', tooLarge(file))
  return readFileSync(file, 'utf8')
}
