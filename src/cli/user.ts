import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { resetPassword, userForReset } from '../accounts/reset-password.ts'
import { parseConfig } from '../config.ts'
import { openExisting } from '../db/index.ts'
import { Failure } from '../errors.ts'
import { randomCode } from '../secrets.ts'
import { askNew, firstLineOf, isTerminal } from './ask.ts'
import { UsageError, print, readArguments } from './command.ts'
import type { Command } from './command.ts'

const usage = 'davit user reset-password EMAIL'

export const user: Command = async ([verb, ...args], env) => {
  if (verb !== 'reset-password') throw new UsageError(`it is called as: ${usage}`)
  const { email } = readArguments(args, { usage, names: ['email'] as const, options: {} })
  const db = openState(parseConfig(env).dataDir)
  try {
    const account = userForReset(db, email)
    const typed = isTerminal()
      ? await askNew('New password', 'empty: one is made up')
      : firstLineOf(0)
    const password = typed || randomCode()
    await resetPassword(db, { user: account, password, by: usage.replace('EMAIL', '').trim() })
    print(`${account.email} has a new password, and all sessions of theirs have ended.`)
    if (!typed) print(`Password: ${password}`)
    if (account.disabledAt) print('The account is disabled: an admin has to enable it again.')
    return 0
  } finally {
    db.$client.close()
  }
}

function openState(dataDir: string) {
  const path = join(dataDir, 'davit.db')
  if (existsSync(path)) return openExisting(path)
  throw new Failure(
    'nothing_there',
    `There is no Davit in ${dataDir}.`,
    'Set DAVIT_DATA_DIR to where it keeps its data.',
  )
}
