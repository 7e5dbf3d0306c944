import type { Manifest } from '../backup/format.ts'
import { placeOf } from '../backups/server/place.ts'
import type { Login } from '../backups/server/place.ts'
import { restoreServer } from '../backups/server/restore-server.ts'
import type { Config } from '../config.ts'
import { askHidden, firstLineOf, isTerminal, readGiven } from './ask.ts'
import { UsageError, print } from './command.ts'
import type { Environment, readMany } from './command.ts'
import { untilSignal } from './install.ts'

export const ofRepository = {
  'key-file': { type: 'string' },
  identity: { type: 'string' },
  until: { type: 'string' },
  without: { type: 'string', default: '' },
  'dry-run': { type: 'boolean', default: false },
} as const

type RestoreArguments = ReturnType<typeof readMany<typeof ofRepository>>['values']

/** Null for a dry run. */
export async function restoreFrom(
  repository: string,
  { asked, config, env }: { asked: RestoreArguments; config: Config; env: Environment },
): Promise<Manifest | null> {
  const until = timeOf(asked.until)
  const place = placeOf(config, repository, await loginTo(repository, asked, env))
  const file = asked['key-file'] ?? env.RESTIC_PASSWORD_FILE
  const password = file
    ? firstLineOf(file)
    : env.RESTIC_PASSWORD || (await secret('The key of the repository', 'RESTIC_PASSWORD'))
  return restoreServer({
    ...{ config, place, password, until },
    without: asked.without.split(',').filter(Boolean),
    isDry: asked['dry-run'],
    say: (line) => print(line),
    signal: untilSignal('davit restore'),
  })
}

/** As restic has them in its environment: every user of the machine can see arguments. */
async function loginTo(
  repository: string,
  { identity }: RestoreArguments,
  env: Environment,
): Promise<Login> {
  if (repository.startsWith('s3:'))
    return {
      accessKey: env.AWS_ACCESS_KEY_ID || (await secret('Access key', 'AWS_ACCESS_KEY_ID')),
      secretKey: env.AWS_SECRET_ACCESS_KEY || (await secret('Secret key', 'AWS_SECRET_ACCESS_KEY')),
      region: env.AWS_DEFAULT_REGION,
    }
  if (repository.startsWith('rest:'))
    return { user: env.RESTIC_REST_USERNAME, userPassword: env.RESTIC_REST_PASSWORD }
  if (!repository.startsWith('sftp:')) return {}
  if (identity === undefined)
    throw new UsageError(
      'an sftp repository needs --identity FILE, a private key without a passphrase.',
    )
  return { key: readGiven(identity) }
}

async function secret(what: string, variable: string) {
  if (!isTerminal()) throw new UsageError(`set ${variable}, since there is no terminal to ask at.`)
  const typed = await askHidden(`${what}: `)
  if (typed === '') throw new UsageError(`${what.toLowerCase()} is missing.`)
  return typed
}

/** Now without one. */
function timeOf(text: string | undefined) {
  if (text === undefined) return new Date()
  const time = new Date(text)
  if (!Number.isNaN(time.getTime())) return time
  throw new UsageError(`${text} isn’t a time such as 2026-11-26T03:00Z.`)
}
