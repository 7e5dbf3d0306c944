import { existsSync, readFileSync } from 'node:fs'
import { become } from '../platform/effective-user.ts'
import { asDavit, systemUser } from './accounts.ts'
import { settingsOf } from './environment-file.ts'
import { layoutIn } from './layout.ts'

type Environment = Record<string, string | undefined>

/**
 * When root runs a command on an installed server, the installation's
 * settings apply, unless the environment names a data directory.
 */
export function asInstalled(env: Environment): Environment {
  if (!isRootsOwn(env)) return env
  return { ...settingsOf(readFileSync(layoutIn().settings, 'utf8')), ...env }
}

/** Like `asInstalled`, and switches the rest of this process to Davit's user. */
export function asItsUser(env: Environment): Environment {
  const settings = asInstalled(env)
  const user = isRootsOwn(env) ? systemUser() : null
  if (user) {
    become(user)
    process.chdir(layoutIn().home)
  }
  return settings
}

/** Like `asItsUser`, but only for `act`, so that root can still open files that the operator names. */
export function withItsRights<T>(env: Environment, act: (settings: Environment) => T): T {
  const settings = asInstalled(env)
  return isRootsOwn(env) ? asDavit(() => act(settings)) : act(settings)
}

const isRootsOwn = (env: Environment) =>
  process.getuid?.() === 0 && !env.DAVIT_DATA_DIR && existsSync(layoutIn().settings)
