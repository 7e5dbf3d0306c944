import type { Context } from 'hono'
import { clientOf } from './client.ts'
import type { Env } from './factory.ts'

type Kept = { state: unknown[]; body: string; headers: [string, string][] }

/** Answers kept at most; the oldest goes. */
const most = 32

/**
 * Keeps what was answered to one reader for as long as nothing that it says has changed, for pages
 * that take longer to make than to ask whether they are still true.
 */
export class KeptAnswers {
  readonly #kept = new Map<string, Kept>()

  /** `state` is all that the answer depends on besides the reader; its parts are compared by identity. */
  async answer(c: Context<Env>, state: unknown[], make: () => Response | Promise<Response>) {
    const { user, csrfToken } = c.var
    const key = [c.req.path, clientOf(c), user?.id, csrfToken].join(' ')
    const known = this.#kept.get(key)
    const isTrue = known && state.every((part, i) => part === known.state[i])
    if (!isTrue) this.#kept.delete(key)
    const { body, headers } = isTrue ? known : this.#keep(key, await read(state, await make()))
    for (const [name, value] of headers) c.header(name, value)
    return c.body(body)
  }

  #keep(key: string, answer: Kept) {
    this.#kept.set(key, answer)
    if (this.#kept.size > most) this.#kept.delete(this.#kept.keys().next().value!)
    return answer
  }
}

async function read(state: unknown[], answer: Response): Promise<Kept> {
  const headers = ['Content-Type', 'Vary'].map((name) => [name, answer.headers.get(name) ?? ''])
  return { state, body: await answer.text(), headers: headers as [string, string][] }
}
