import { AppError, errorCodeOf } from '../platform/errors.ts'
import { jsonOrNull } from '../platform/json.ts'
import { version } from '../platform/root.ts'
import { notLoggedIn } from './servers.ts'
import type { Login } from './servers.ts'

/** Milliseconds for one answer, but for a stream or an upload. */
const timeoutMs = 30_000

export type Call = {
  method?: string
  body?: object
  /** Sent as it is. */
  stream?: ReadableStream<Uint8Array>
  headers?: Record<string, string>
  signal?: AbortSignal
}

export class Server {
  readonly url: string
  readonly token: string | null

  /** Without a token, it is a visitor. */
  constructor({ url, token }: Pick<Login, 'url'> & { token: string | null }) {
    this.url = url
    this.token = token
  }

  get headers() {
    const login = this.token === null ? {} : { Authorization: `Bearer ${this.token}` }
    return { ...login, 'User-Agent': `davit/${version}` }
  }

  get<Answer>(path: string) {
    return this.json<Answer>(path)
  }

  post<Answer>(path: string, body: object = {}) {
    return this.json<Answer>(path, { method: 'POST', body })
  }

  async json<Answer>(path: string, call: Call = {}): Promise<Answer> {
    const response = await this.ask(path, call)
    const answer = jsonOrNull(await response.text().catch((error) => this.#fail(error)))
    if (answer === null) throw this.#foreign(response)
    return answer as Answer
  }

  list<Item>(path: string): Promise<Item[]> {
    return Array.fromAsync(this.each<Item>(path))
  }

  /** Asks for a page only when the items before it were taken. */
  async *each<Item>(path: string): AsyncGenerator<Item> {
    for (let next = ''; ;) {
      const page = await this.get<{ items: Item[]; nextCursor: string | null }>(
        `${path}?limit=500${next && `&cursor=${encodeURIComponent(next)}`}`,
      )
      yield* page.items
      if (!page.nextCursor) return
      next = page.nextCursor
    }
  }

  /** Throws what the server refuses, in its words. A token is never sent to where a server redirects. */
  async ask(path: string, { method = 'GET', body, stream, headers, signal }: Call = {}) {
    const type = body ? { 'Content-Type': 'application/json' } : {}
    const response = await fetch(`${this.url}${path}`, {
      method,
      redirect: 'manual',
      headers: { Accept: 'application/json', ...type, ...this.headers, ...headers },
      signal: signal ?? AbortSignal.timeout(timeoutMs),
      ...(body && { body: JSON.stringify(body) }),
      ...(stream && { body: stream }),
    }).catch((error) => this.#fail(error, signal))
    if (response.ok && !isPage(response)) return response
    throw await this.#refusal(response)
  }

  async #refusal(response: Response) {
    const { status, headers } = response
    const to = headers.get('Location')
    if (status >= 300 && status < 400)
      return new AppError(
        'misdirected',
        `${this.url} redirects to ${to}. If that is your Davit, run: davit login ${URL.parse(to ?? '', this.url)?.origin}`,
      )
    const problem = jsonOrNull(await response.text().catch(() => ''))
    if (!isProblem(problem)) return this.#foreign(response)
    if (status === 401) return notLoggedIn(this.url, problem.detail)
    return new AppError(errorCodeOf(status), problem.detail, {
      retryAfter: Number(headers.get('Retry-After')),
    })
  }

  /** What answers is no Davit, or something before it. */
  #foreign = ({ status, headers }: Response) =>
    new AppError(
      'bad_gateway',
      `${this.url} responded with ${status} and ${headers.get('Content-Type')?.split(';')[0] ?? 'nothing'} instead of JSON, so it isn’t a Davit, or a proxy before it responded. Check the address.`,
    )

  #fail(error: unknown, signal?: AbortSignal): never {
    if (signal?.aborted) throw signal.reason
    throw new AppError('unavailable', `${this.url} can’t be reached: ${whyUnreached(error)}`, {
      cause: error,
    })
  }
}

/** A visitor's cookies, and their token against forged requests. */
export async function visitorHeaders(server: Server) {
  const response = await server.ask('/health')
  const cookies = response.headers.getSetCookie().map((cookie) => cookie.split(';', 1)[0]!)
  const token = cookies.find((cookie) => cookie.startsWith('svc_csrf='))?.slice('svc_csrf='.length)
  return { Cookie: cookies.join('; '), 'X-CSRF-Token': token ?? '' }
}

const isPage = ({ headers }: Response) => headers.get('Content-Type')?.startsWith('text/html')

const isProblem = (value: unknown): value is { detail: string } =>
  typeof (value as { detail?: unknown } | null)?.detail === 'string'

function whyUnreached(error: unknown) {
  const { code = '', name, message } = error as NodeJS.ErrnoException
  if (name === 'TimeoutError') return `it didn’t respond within ${timeoutMs / 1000} seconds.`
  if (/SELF_SIGNED|UNABLE_TO_(VERIFY|GET)|UNKNOWN_CERTIFICATE|CERT_UNTRUSTED/.test(code))
    return 'its certificate is from an authority that this machine doesn’t trust. If it is your own, name its file: NODE_EXTRA_CA_CERTS=ca.pem davit …'
  if (/CERT_HAS_EXPIRED/.test(code)) return 'its certificate has expired.'
  if (/CERT_NOT_YET/.test(code)) return 'its certificate isn’t valid yet. Check the clock.'
  if (/ALTNAME/.test(code)) return 'its certificate is for another name.'
  if (/REFUSED/i.test(code)) return 'nothing listens there.'
  if (/ENOTFOUND|EAI_AGAIN|DNS|FailedToOpenSocket/i.test(code))
    return 'the name wasn’t found, or there is no network.'
  if (/ECONNRESET|ConnectionClosed|EPIPE/i.test(code)) return 'the connection was lost.'
  return `${message} (${code || name}).`
}
