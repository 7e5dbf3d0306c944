import { mkdirSync, readFileSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { isTerminal } from '../cli/ask.ts'
import { UsageError, warn } from '../cli/command.ts'
import type { Environment } from '../cli/command.ts'
import { writeFileAtomically } from '../platform/atomic-write.ts'
import { AppError } from '../platform/errors.ts'
import { choose } from './choose.ts'

export type Login = { url: string; token: string }

/** By the address of the server, without a slash at its end. */
type Stored = Record<string, { token: string; email: string }>

/** In the user's own configuration, as other programs keep it. */
export const loginsFile = (env: Environment) =>
  join(env.XDG_CONFIG_HOME || join(env.HOME || homedir(), '.config'), 'davit', 'servers.json')

export function readLogins(env: Environment): Stored {
  const file = loginsFile(env)
  try {
    if (statSync(file).mode & 0o077) warn(`Others can read ${file}. Run: chmod 600 ${file}`)
    return JSON.parse(readFileSync(file, 'utf8')).servers ?? {}
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return {}
    throw new AppError('invalid', `${file} can’t be read. Remove it and log in again.`, { cause })
  }
}

export function writeLogins(env: Environment, servers: Stored) {
  const file = loginsFile(env)
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  writeFileAtomically(file, `${JSON.stringify({ servers }, null, 2)}\n`)
}

/** As a person writes it, with https where there is no scheme; without a path. */
export function addressOf(text: string) {
  const url = URL.parse(/^https?:\/\//i.test(text) ? text : `https://${text}`)
  if (url && /^https?:$/.test(url.protocol) && url.username === '' && url.pathname === '/')
    return url.origin
  throw new UsageError(`${text} isn’t the address of a server, such as https://davit.example.com.`)
}

/** The server that was named, in the environment too, or the only one that is known. */
export async function loginFor(
  { server }: { server?: string | undefined },
  env: Environment,
): Promise<Login> {
  const named = server ?? env.DAVIT_SERVER
  const servers = readLogins(env)
  const known = Object.keys(servers)
  if (env.DAVIT_TOKEN) {
    if (named) return { url: addressOf(named), token: env.DAVIT_TOKEN }
    throw new UsageError('DAVIT_TOKEN is set. Name its server too, with --server or DAVIT_SERVER.')
  }
  if (known.length === 0 && !named) throw notLoggedIn('ADDRESS')
  const url = named
    ? addressOf(named)
    : known.length === 1 || !isTerminal()
      ? theOnly(known)
      : await choose('Which server?', known, (one) => one)
  const login = servers[url]
  if (!login) throw notLoggedIn(url)
  return { url, token: login.token }
}

export const notLoggedIn = (url: string, why = 'You aren’t logged in.') =>
  new AppError('unauthorized', `${why} Run: davit login ${url}`)

function theOnly(known: string[]) {
  if (known.length === 1) return known[0]!
  throw new UsageError(`there are several servers. Choose one with --server: ${known.join(', ')}.`)
}
