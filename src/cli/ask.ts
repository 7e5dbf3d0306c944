import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { asCaller } from '../platform/effective-user.ts'
import { AppError } from '../platform/errors.ts'
import { UsageError, print } from './command.ts'
import type { Environment } from './command.ts'

export const isTerminal = () => process.stdin.isTTY && process.stderr.isTTY

/** Trims spaces. Throws when the input ends. */
export async function askLine(question: string): Promise<string> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  const { promise: left, reject } = Promise.withResolvers<string>()
  terminal.once('close', () => reject(new AppError('invalid', 'Nothing was changed.')))
  try {
    return (await Promise.race([terminal.question(question), left])).trim()
  } finally {
    terminal.close()
  }
}

/** False for a dry run. Throws unless the plan that was shown is to be carried out. */
export async function confirmed({ yes, isDry = false }: { yes: boolean; isDry?: boolean }) {
  if (isDry) print('Nothing was changed: this was a dry run.')
  if (isDry || yes) return !isDry
  if (!isTerminal())
    throw new AppError('invalid', 'Nothing was changed. Without a terminal, run it with --yes.')
  if (!/^y(es)?$/i.test(await askLine('Continue? [y/N] ')))
    throw new AppError('invalid', 'Nothing was changed.')
  return true
}

/** In milliseconds: within this the next line of what is pasted follows. */
const pasteTime = 50

/** Typing isn't echoed. Throws for several lines, of which the first alone would be half of what was meant. */
export async function askHidden(question: string): Promise<string> {
  const output = new Writable({ write: (_bytes, _encoding, done) => done() })
  const terminal = createInterface({ input: process.stdin, output, terminal: true, historySize: 0 })
  process.stderr.write(question) // whoever pastes as soon as it is there isn't echoed either
  const { promise: left, reject } = Promise.withResolvers<string>()
  terminal.once('close', () => reject(new AppError('invalid', 'Nothing was changed.')))
  let isLong = false
  terminal.on('line', (next) => (isLong ||= next !== '')) // the first one answers the question
  try {
    const line = await Promise.race([terminal.question(''), left])
    await sleep(pasteTime)
    if (isLong || terminal.line !== '')
      throw new AppError(
        'invalid',
        'Only one line can be entered here. Nothing was changed. Pipe several lines in, from a file.',
      )
    return line
  } finally {
    terminal.close()
    process.stderr.write('\n')
  }
}

/** Asks twice, since typing isn't echoed. An empty entry is allowed. */
export async function askNew(what: string, hint: string): Promise<string> {
  const first = await askHidden(`${what} (${hint}): `)
  if (first !== '' && (await askHidden('Repeat: ')) !== first)
    throw new AppError('invalid', 'The two don’t match. Nothing was changed; try again.')
  return first
}

/** The text of a file that a user named, or of standard input. */
export function readGiven(file: string | 0) {
  try {
    return asCaller(() => readFileSync(file, 'utf8'))
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    if (file === 0) return '' // nothing is piped in
    throw new UsageError(`the file ${file} can’t be read (${code}).`, { cause })
  }
}

export const firstLineOf = (file: string | 0) => readGiven(file).split(/\r?\n/)[0]!

type From = { 'passphrase-file'?: string | undefined }

/** Not an argument: every user of the machine can see those. */
export const passphraseOption = { 'passphrase-file': { type: 'string' } } as const

/** Null for a backup without a passphrase. */
export async function newPassphrase(from: From, env: Environment) {
  const given = givenPassphrase(from, env)
  if (given !== null || !isTerminal()) return given
  return (
    (await askNew('Passphrase', 'leave empty for none: anyone with the file can read it')) || null
  )
}

/** Throws without one. */
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
