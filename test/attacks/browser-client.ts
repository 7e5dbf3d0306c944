/** A browser that keeps its cookies, and asks in JSON. */
export class Browser {
  readonly cookies = new Map<string, string>()
  constructor(readonly url: string) {}

  async ask(method: string, path: string, body?: object, headers: Record<string, string> = {}) {
    const answer = await fetch(this.url + path, {
      method,
      redirect: 'manual',
      headers: {
        Accept: 'application/json',
        Cookie: [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; '),
        'X-CSRF-Token': this.cookies.get('svc_csrf') ?? '',
        ...(body && { 'Content-Type': 'application/json' }),
        ...headers,
      },
      ...(body && { body: JSON.stringify(body) }),
    })
    for (const line of answer.headers.getSetCookie()) {
      const { name, value } = Bun.Cookie.parse(line)
      this.cookies.set(name, value)
    }
    return answer
  }

  async json(method: string, path: string, body?: object) {
    const answer = await this.ask(method, path, body)
    const text = await answer.text()
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`)
    return JSON.parse(text)
  }

  /** Whatever this user made on the engine. */
  async removeAll() {
    for (const { id } of (await this.json('GET', '/projects')).items)
      await this.json('DELETE', `/projects/${id}?volumes=1`)
    for (const { id } of (await this.json('GET', '/services')).instances)
      await this.json('DELETE', `/services/${id}?volumes=1`)
  }
}
