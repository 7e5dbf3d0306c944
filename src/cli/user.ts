import { join } from 'node:path'
import { resetPassword, userForReset } from '../accounts/reset-password.ts'
import { parseConfig } from '../config.ts'
import { openExisting } from '../db/index.ts'
import { refuseMissing } from '../db/failures.ts'
import { randomCode } from '../platform/secrets.ts'
import { askNew, firstLineOf, isTerminal } from './ask.ts'
import { UsageError, print, readArguments } from './command.ts'
import type { Command } from './command.ts'

const name = 'davit user reset-password'
const usage = `${name} EMAIL`

export const user: Command = async ([verb, ...args], env) => {
  if (verb !== 'reset-password') throw new UsageError(`usage: ${usage}`)
  const { email } = readArguments(args, { usage, names: ['email'], options: {} })
  const { dataDir } = parseConfig(env)
  refuseMissing(dataDir)
  const db = openExisting(join(dataDir, 'davit.db'))
  using _ = db.$client
  const account = userForReset(db, email)
  const typed = isTerminal()
    ? await askNew('New password', 'leave empty to generate one')
    : firstLineOf(0)
  const password = typed || randomCode()
  await resetPassword(db, { user: account, password, by: name })
  print(
    `${account.email} has a new password. Their sessions, API tokens and linked logins were removed.`,
  )
  if (!typed) print(`Password: ${password}`)
  if (account.disabledAt) print('The account is disabled: an admin has to enable it again.')
  return 0
}
