import { spawnBrowser } from './browser.ts'
import { askHidden, firstLineOf, isTerminal } from '../cli/ask.ts'
import { UsageError, readArguments, warn } from '../cli/command.ts'
import type { Command } from '../cli/command.ts'
import { AppError } from '../platform/errors.ts'
import { isLocalhost, isLoopback } from '../platform/hosts.ts'
import { Server, visitorHeaders } from './call.ts'
import { answer, note } from './say.ts'
import { addressOf, loginsFile, readLogins, writeLogins } from './servers.ts'
import { hostname } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Call } from './call.ts'

/** Stores a token for a server: one that is allowed in a browser, pasted, or piped in. */
export const login: Command = async (args, env) => {
  const {
    address,
    json,
    token: isPasted,
  } = readArguments(args, {
    usage: 'davit login ADDRESS [--token] [--json]',
    names: ['address'],
    options: { token: { type: 'boolean' }, json: { type: 'boolean' } },
  })
  const url = addressOf(address)
  const { protocol, hostname: host } = new URL(url)
  if (protocol === 'http:' && !isLocalhost(host) && !isLoopback(host))
    warn(`${url} has no HTTPS: whoever is between you and it can read the token.`)
  const ask = isPasted ? askToken : loginByBrowser
  const token = isTerminal() ? await ask(url) : firstLineOf(0)
  if (!/^dvt_[\w-]+$/.test(token))
    throw new UsageError(
      'a token begins with dvt_. Create one in Davit, under Settings, Tokens, and paste it, or pipe it in.',
    )
  const { email } = await new Server({ url, token }).get<{ email: string }>('/settings/profile')
  writeLogins(env, { ...readLogins(env), [url]: { token, email } })
  const file = loginsFile(env)
  const said = `You are logged in to ${url} as ${email}. The token is in ${file}`
  return answer(json, { server: url, email, file }, said)
}

async function askToken(url: string) {
  const page = `${url}/settings/tokens/new`
  note(`Create a token with the scope write, and paste it here:\n\n  ${page}\n`)
  void spawnBrowser(page)
  return (await askHidden('Token (hidden): ')).trim()
}

/** Forgets the token here; the server still has it. */
export const logout: Command = async (args, env) => {
  const { address, json } = readArguments(args, {
    usage: 'davit logout [ADDRESS] [--json]',
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
  const said = `The token for ${url} was removed here. Revoke it there: ${url}/settings/tokens`
  return answer(json, { server: url }, said)
}

type Taken = { token: string | null }

type Started = { secret: string; code: string; interval: number; expiresIn: number }

async function loginByBrowser(url: string): Promise<string> {
  const server = new Server({ url, token: null })
  const headers = await visitorHeaders(server)
  const owner = process.env.USER ? `${process.env.USER}@` : ''
  const name = `${owner}${hostname()}`
    .replace(/\p{Cc}/gu, '')
    .slice(0, 60)
    .toWellFormed()
  const { secret, code, interval, expiresIn } = await post<Started>(server, '/auth/device', {
    headers,
    body: { name },
  })
  const page = `${url}/settings/device?code=${code}`
  note(`Allow the login in a browser, where the code must be ${code}:\n\n  ${page}\n`)
  void spawnBrowser(page)
  for (const until = Date.now() + expiresIn; Date.now() < until; await sleep(interval)) {
    const asked = { headers, body: { secret } }
    const { token } = await post<Taken>(server, '/auth/device/token', asked).catch(whenLost)
    if (token !== null) return token
  }
  throw ended()
}

function post<Answer>(server: Server, path: string, call: Pick<Call, 'headers' | 'body'>) {
  return server.json<Answer>(path, { method: 'POST', ...call })
}

/** The connection may come back. */
function whenLost(error: unknown) {
  const code = error instanceof AppError ? error.code : null
  if (code === 'unavailable' || code === 'bad_gateway') return { token: null }
  throw code === 'not_found' ? ended() : error
}

const ended = () =>
  new AppError('unauthorized', 'The login was refused, or its code has expired. Try again.')
