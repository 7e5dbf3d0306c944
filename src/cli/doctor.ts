import { parseConfig } from '../config.ts'
import { examine } from '../doctor/examine.ts'
import { print, readArguments } from './command.ts'
import type { Command } from './command.ts'

export const doctor: Command = async (args, env) => {
  readArguments(args, { usage: 'davit doctor', names: [] as const, options: {} })
  const findings = await examine(parseConfig(env), env)
  for (const { what, is, todo } of findings)
    print(`${todo ? 'to do' : 'ok   '}  ${what.padEnd(9)}  ${todo ? sentences(is, todo) : is}`)
  return findings.some(({ todo }) => todo) ? 1 : 0
}

const sentences = (is: string, todo: string) => `${is.replace(/\.$/, '')}. ${todo}`
