import type { createApp } from '../../src/app.tsx'
import type { Deps } from '../../src/assemble.ts'
import { hostCookie } from '../../src/web/cookies.ts'
import { aSession } from './session.ts'

type App = ReturnType<typeof createApp>
type Body = Record<string, unknown>

export type Answer<Json = any> = {
  status: number
  headers: Headers
  text: string
  /** The parsed body of a JSON answer, else undefined. */
  json: Json
}

/** A logged-in user who drives the app as a program, with `form` and `htmx` as a browser does. */
export class TestClient {
  readonly user: { id: string; email: string }
  readonly #app: App
  readonly #cookies = new Map<string, string>()

  constructor(deps: Deps, app: App, user: { id: string; email: string }) {
    this.user = user
    this.#app = app
    this.#cookies.set(
      hostCookie('svc_session', { isSecure: deps.config.url?.protocol === 'https:' }),
      aSession(deps, user.id),
    )
  }

  get = (path: string) => this.#json('GET', path)
  post = (path: string, body: Body = {}) => this.#json('POST', path, body)
  put = (path: string, body: Body = {}) => this.#json('PUT', path, body)
  delete = (path: string, body?: Body) => this.#json('DELETE', path, body)

  page = (path: string) => this.send(path, { headers: { Accept: 'text/html' } }).then(read)

  /** Posts a native form: names are snake_case, the answer is a page or a 303. */
  form = (path: string, fields: Record<string, string>) =>
    this.send(path, {
      method: 'POST',
      body: new URLSearchParams(fields),
      headers: { Accept: 'text/html' },
    }).then(read)

  /** What htmx sends: the answer is a fragment, or tells where to go in `HX-Redirect`. */
  htmx = (method: string, path: string, fields?: Record<string, string>) =>
    this.send(path, {
      method,
      ...(fields && { body: new URLSearchParams(fields) }),
      headers: { Accept: 'text/html', 'HX-Request': 'true' },
    }).then(read)

  /** The raw response, for streams. */
  async send(path: string, init: RequestInit = {}): Promise<Response> {
    if (!this.#cookies.has('svc_csrf')) await this.#request('/health')
    return this.#request(path, init)
  }

  async #request(path: string, init: RequestInit = {}) {
    const headers = new Headers(init.headers)
    headers.set('Cookie', [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; '))
    headers.set('X-CSRF-Token', this.#cookies.get('svc_csrf') ?? '')
    const response = await this.#app.request(path, { ...init, headers })
    for (const cookie of response.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(cookie)!
      this.#cookies.set(name!, value!)
    }
    return response
  }

  #json = (method: string, path: string, body?: Body) =>
    this.send(path, {
      method,
      headers: { Accept: 'application/json', 'Content-Type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    }).then(read)
}

async function read(response: Response): Promise<Answer> {
  const text = await response.text()
  const isJson = response.headers.get('Content-Type')?.includes('json')
  return {
    status: response.status,
    headers: response.headers,
    text,
    json: isJson ? JSON.parse(text) : undefined,
  }
}
