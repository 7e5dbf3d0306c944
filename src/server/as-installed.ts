import { existsSync, readFileSync } from 'node:fs'
import { become } from '../platform/effective-user.ts'
import { asDavit, systemUser } from './accounts.ts'
import { settingsOf } from './environment-file.ts'
import { layoutIn } from './layout.ts'

type Environment = Record<string, string | undefined>

/**
 * The settings for a command that root runs where Davit was installed: those of the installation, unless the
 * environment names a data directory.
 */
export function asInstalled(env: Environment): Environment {
  if (!isRootsOwn(env)) return env
  return { ...settingsOf(readFileSync(layoutIn().settings, 'utf8')), ...env }
}

/** The same; the rest of this process runs as Davit's user. */
export function asItsUser(env: Environment): Environment {
  const settings = asInstalled(env)
  const user = isRootsOwn(env) ? systemUser() : null
  if (user) {
    become(user)
    process.chdir(layoutIn().home)
  }
  return settings
}

/** The same for a part of root's work, which opens as root what an operator names. */
export function withItsRights<T>(env: Environment, act: (settings: Environment) => T): T {
  const settings = asInstalled(env)
  return isRootsOwn(env) ? asDavit(() => act(settings)) : act(settings)
}

const isRootsOwn = (env: Environment) =>
  process.getuid?.() === 0 && !env.DAVIT_DATA_DIR && existsSync(layoutIn().settings)
