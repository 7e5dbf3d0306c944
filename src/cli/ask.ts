import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { AppError } from '../platform/errors.ts'
import { UsageError } from './command.ts'
import type { Environment } from './command.ts'

export const isTerminal = () => process.stdin.isTTY && process.stderr.isTTY

/** Asks a person at the terminal for what nobody is to see: nothing of it is shown. */
export async function askHidden(question: string): Promise<string> {
  process.stderr.write(question)
  const output = new Writable({ write: (_bytes, _encoding, done) => done() })
  const terminal = createInterface({ input: process.stdin, output, terminal: true, historySize: 0 })
  const { promise: left, reject } = Promise.withResolvers<string>()
  terminal.once('close', () => reject(new AppError('invalid', 'Nothing was done.')))
  try {
    return await Promise.race([terminal.question(''), left])
  } finally {
    terminal.close()
    process.stderr.write('\n')
  }
}

/** Asks twice, since nobody sees what they type. An empty answer is one too. */
export async function askNew(what: string, hint: string): Promise<string> {
  const first = await askHidden(`${what} (${hint}): `)
  if (first !== '' && (await askHidden('Once more: ')) !== first)
    throw new AppError('invalid', 'The two are not the same. Nothing was done; try again.')
  return first
}

/** The first line of a file or of what is piped in. */
export function firstLineOf(file: string | 0) {
  try {
    return readFileSync(file, 'utf8').split(/\r?\n/)[0]!
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    if (file === 0) return '' // nothing is piped in
    throw new UsageError(`the file ${file} can not be read (${code}).`, { cause })
  }
}

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
