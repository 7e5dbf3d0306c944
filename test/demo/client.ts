type Account = { email: string; password: string; setupCode?: string | null | undefined }
type Options = { body?: object; headers?: Record<string, string>; signal?: AbortSignal }

/** Talks to Davit as a program does, in JSON, with the cookies of one session. */
export class DavitClient {
  readonly #cookies = new Map<string, string>()
  readonly #url: string
  readonly #signal: AbortSignal

  constructor({ url, signal }: { url: string; signal: AbortSignal }) {
    this.#url = url
    this.#signal = signal
  }

  /** Registers, or logs in. */
  async enter(path: '/auth/register' | '/auth/login', account: Account) {
    await this.get('/health') // gives the cookie with the CSRF token
    await this.post(path, account)
  }

  async get<T>(path: string): Promise<T> {
    return (await (await this.#send('GET', path)).json()) as T
  }

  /** A page as a browser gets it. */
  async page(path: string) {
    return (await this.#send('GET', path, { headers: { Accept: 'text/html' } })).text()
  }

  async post<T>(path: string, body: Record<string, unknown> = {}): Promise<T> {
    return (await (await this.#send('POST', path, { body })).json()) as T
  }

  async put<T>(path: string, body: Record<string, unknown>): Promise<T> {
    return (await (await this.#send('PUT', path, { body })).json()) as T
  }

  /** Not bound to the signal: an interrupted demo still tidies up. */
  async delete(path: string) {
    const signal = AbortSignal.timeout(60_000)
    return this.#send('DELETE', path, { signal })
  }

  /** Opens a stream of events, after the one with this id. */
  async stream(path: string, lastEventId: string | null) {
    const resume = lastEventId ? { 'Last-Event-ID': lastEventId } : {}
    const headers = { Accept: 'text/event-stream', ...resume }
    return (await this.#send('GET', path, { headers })).body!
  }

  /** Whatever is answered. */
  async ask(method: string, path: string, { body, headers, signal }: Options = {}) {
    const answer = await fetch(this.#url + path, {
      method,
      headers: {
        Accept: 'application/json',
        Cookie: [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; '),
        'X-CSRF-Token': this.#cookies.get('svc_csrf') ?? '',
        ...(body && { 'Content-Type': 'application/json' }),
        ...headers,
      },
      redirect: 'manual',
      signal: signal ?? this.#signal,
      ...(body && { body: JSON.stringify(body) }),
    })
    this.#keepCookies(answer)
    return answer
  }

  cookie = (name: string) => this.#cookies.get(name)

  /** Deletes whatever this user has made on the engine. */
  async removeAll() {
    const { items } = await this.get<{ items: { id: string }[] }>('/projects')
    for (const { id } of items) await this.delete(`/projects/${id}?volumes=1`)
    const { instances } = await this.get<{ instances: { id: string }[] }>('/services')
    for (const { id } of instances) await this.delete(`/services/${id}?volumes=1`)
  }

  async #send(method: string, path: string, options: Options = {}) {
    const answer = await this.ask(method, path, options)
    if (answer.ok) return answer
    throw new Error(`${method} ${path} is answered ${answer.status}: ${await answer.text()}`)
  }

  #keepCookies(answer: Response) {
    for (const text of answer.headers.getSetCookie()) {
      const { name, value } = Bun.Cookie.parse(text)
      this.#cookies.set(name, value)
    }
  }
}
