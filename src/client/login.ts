import { spawnBrowser } from './browser.ts'
import { askHidden, firstLineOf, isTerminal } from '../cli/ask.ts'
import { UsageError, print, readArguments, warn } from '../cli/command.ts'
import type { Command } from '../cli/command.ts'
import { AppError } from '../platform/errors.ts'
import { Server } from './call.ts'
import { loginByBrowser } from './device-login.ts'
import { note, printJson } from './say.ts'
import { addressOf, loginsFile, readLogins, writeLogins } from './servers.ts'

/** Stores a token for a server: one that is allowed in a browser, pasted, or piped in. */
export const login: Command = async (args, env) => {
  const {
    address,
    json,
    token: isPasted,
  } = readArguments(args, {
    usage: 'davit login ADDRESS [--token] [--json]',
    names: ['address'] as const,
    options: { token: { type: 'boolean' }, json: { type: 'boolean' } },
  })
  const url = addressOf(address)
  if (url.startsWith('http:') && !isLoopback(url))
    warn(`${url} has no HTTPS: whoever is between you and it can read the token.`)
  const ask = isPasted ? askToken : loginByBrowser
  const token = isTerminal() ? await ask(url) : firstLineOf(0)
  if (!/^dvt_[\w-]+$/.test(token))
    throw new UsageError(
      'a token begins with dvt_. Create one in Davit, under Settings, Tokens, and paste it, or pipe it in.',
    )
  const { email } = await new Server({ url, token }).get<{ email: string }>('/settings/profile')
  writeLogins(env, { ...readLogins(env), [url]: { token, email } })
  if (json) printJson({ server: url, email, file: loginsFile(env) })
  else print(`You are logged in to ${url} as ${email}. The token is in ${loginsFile(env)}`)
  return 0
}

async function askToken(url: string) {
  const page = `${url}/settings/tokens/new`
  note(`Create a token with the scope write, and paste it here:\n\n  ${page}\n`)
  void spawnBrowser(page)
  return (await askHidden('Token (hidden): ')).trim()
}

const isLoopback = (url: string) =>
  /^(localhost|.*\.localhost|127\.[\d.]+|\[::1\])$/.test(new URL(url).hostname)

/** Forgets the token here; the server still has it. */
export const logout: Command = async (args, env) => {
  const { address, json } = readArguments(args, {
    usage: 'davit logout [ADDRESS] [--json]',
    names: [] as const,
    optional: 'address',
    options: { json: { type: 'boolean' } },
  })
  const servers = readLogins(env)
  const known = Object.keys(servers)
  if (address === undefined && known.length > 1)
    throw new UsageError(`there are several servers. Name one: ${known.join(', ')}.`)
  const url = address === undefined ? known[0] : addressOf(address)
  if (url === undefined || !servers[url])
    throw new AppError('not_found', `You aren’t logged in${url ? ` to ${url}` : ''}.`)
  const { [url]: _, ...others } = servers
  writeLogins(env, others)
  if (json) printJson({ server: url })
  else print(`The token for ${url} was removed here. Revoke it there: ${url}/settings/tokens`)
  return 0
}
