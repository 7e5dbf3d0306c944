import { hostname } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { AppError } from '../platform/errors.ts'
import { spawnBrowser } from './browser.ts'
import { Server } from './call.ts'
import type { Call } from './call.ts'
import { note } from './say.ts'

type Taken = { token: string | null }

type Started = { secret: string; code: string; interval: number; expiresIn: number }

/** Waits until the login is allowed in a browser, and returns its token. */
export async function loginByBrowser(url: string): Promise<string> {
  const server = new Server({ url, token: null })
  const headers = await visitorHeaders(server)
  const owner = process.env.USER ? `${process.env.USER}@` : ''
  const name = `${owner}${hostname()}`.replace(/\p{Cc}/gu, '').slice(0, 60)
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

/** A visitor's cookies, and their token against forged requests. */
async function visitorHeaders(server: Server) {
  const response = await server.ask('/health')
  const cookies = response.headers.getSetCookie().map((cookie) => cookie.split(';', 1)[0]!)
  const token = cookies.find((cookie) => cookie.startsWith('svc_csrf='))?.slice('svc_csrf='.length)
  return { Cookie: cookies.join('; '), 'X-CSRF-Token': token ?? '' }
}
