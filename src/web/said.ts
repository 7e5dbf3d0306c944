import type { Context } from 'hono'

/** Milliseconds after which a message is outdated, and maximum number of sessions with one. */
const lifetime = 60_000
const maxSessions = 1000

/** Messages about changes, by browser session, until its next page shows them. */
export class Said {
  readonly #waiting = new Map<string, { text: string; until: number }>()

  /** The next page of this session shows the text, once. */
  sayNext(sessionId: string, text: string) {
    this.#waiting.delete(sessionId)
    this.#waiting.set(sessionId, { text, until: Date.now() + lifetime })
    if (this.#waiting.size > maxSessions) this.#waiting.delete(this.#waiting.keys().next().value!)
  }

  take(sessionId: string) {
    const said = this.#waiting.get(sessionId)
    this.#waiting.delete(sessionId)
    return said && said.until > Date.now() ? said.text : null
  }
}

/** Browsers omit the header without HTTPS. */
export const isNavigation = (c: Context) =>
  !c.req.header('HX-Request') && (c.req.header('Sec-Fetch-Dest') ?? 'document') === 'document'

/** With this header, app.js shows a message beside a part of the page that changed. */
const header = 'X-Davit-Said'

/** Adds a message to the part of a page in this response. */
export const sayNow = (c: Context, text: string) => c.header(header, encodeURIComponent(text))
