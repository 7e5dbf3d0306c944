import { askHidden, askNew, firstLineOf, isTerminal } from './ask.ts'
import { UsageError } from './command.ts'
import type { Environment } from './command.ts'

type From = { 'passphrase-file'?: string | undefined }

/** It never comes as an argument: those are for everyone on the machine to see. */
export const passphraseOption = { 'passphrase-file': { type: 'string' } } as const

/** What a new backup is to be sealed with; null when it is not to be. */
export async function newPassphrase(from: From, env: Environment) {
  const given = givenPassphrase(from, env)
  if (given !== null || !isTerminal()) return given
  return (await askNew('Passphrase', 'empty: whoever has the file can read it')) || null
}

/** What a sealed backup is opened with. */
export async function knownPassphrase(from: From, env: Environment) {
  const given = givenPassphrase(from, env)
  if (given !== null) return given
  if (isTerminal()) return askHidden('Passphrase: ')
  throw new UsageError(
    'the backup is sealed. Give its passphrase with --passphrase-file or DAVIT_BACKUP_PASSPHRASE.',
  )
}

function givenPassphrase(from: From, env: Environment) {
  const file = from['passphrase-file']
  if (file === undefined) return env.DAVIT_BACKUP_PASSPHRASE || null
  const passphrase = firstLineOf(file)
  if (passphrase === '') throw new UsageError(`the first line of ${file} is empty.`)
  return passphrase
}
