import { availableParallelism } from 'node:os'
// The 3,000 most common passwords of at least 8 characters, most common first, from the MIT-licensed npm
// package @zxcvbn-ts/language-common 4.1.3. As text, so that it is embedded in the executable.
import commonPasswords from './common-passwords.txt' with { type: 'text' }
import { inTurn, Semaphore } from '../platform/semaphore.ts'

/** In characters, not bytes. */
export const passwordLength = { min: 8, max: 256 }

let common: Set<string> | undefined

export function isCommonPassword(password: string) {
  common ??= new Set(commonPasswords.trimEnd().split('\n'))
  return common.has(password.toLowerCase())
}

/** OWASP's minimum for argon2id: 19 MiB and 2 passes. */
const argon2id = { algorithm: 'argon2id', memoryCost: 19_456, timeCost: 2 } as const

/** Each hash takes 19 MiB and a core for a while, so a queue of more than a few seconds is refused. */
const hashes = new Semaphore(availableParallelism())
const queue = {
  maxWaiting: 128,
  full: 'Too many people are logging in right now. Try again in a moment.',
  retryAfter: 5,
}

export const hashPassword = (password: string) =>
  inTurn(hashes, queue, () => Bun.password.hash(password, argon2id))

/** Without a hash it is false, after the same time. */
export async function isPassword(password: string, hash: string | null) {
  const fits = await inTurn(hashes, queue, () =>
    Bun.password.verify(password, hash ?? hashOfNothing),
  )
  return fits && hash !== null
}

/** The hash of a random text, with the same parameters as all others. */
const hashOfNothing =
  '$argon2id$v=19$m=19456,t=2,p=1$4v9VDuzma9DbF8tmGc2zb3CzZRtMBtlRlQ9NOAuw/Bc$bIRrN5+8dsztYBhppdYD9N85hje6Go/ArQQ+dow5ZK8'
