import type { Context } from 'hono'
import { clientOf } from './client.ts'
import type { Env } from './factory.ts'

type Answer = { body: string; headers: [string, string][] }
type Kept = { state: unknown[]; answer: Promise<Answer> }

/** Answers kept at most; the oldest goes. */
const most = 32

/**
 * Keeps what was answered to one reader for as long as nothing that it says has changed, for pages
 * that take longer to make than to ask whether they are still true.
 */
export class KeptAnswers {
  readonly #kept = new Map<string, Kept>()

  /**
   * `state` is all that the answer depends on besides the reader; its parts are compared by identity.
   * Those who ask while it is being made wait for it together.
   */
  async answer(c: Context<Env>, state: unknown[], make: () => Response | Promise<Response>) {
    const { user, csrfToken } = c.var
    const key = [c.req.path, clientOf(c), user?.id, csrfToken].join(' ')
    const known = this.#kept.get(key)
    const isTrue = known && state.every((part, i) => part === known.state[i])
    const { body, headers } = await (isTrue ? known.answer : this.#keep(key, state, make()))
    for (const [name, value] of headers) c.header(name, value)
    return c.body(body)
  }

  #keep(key: string, state: unknown[], made: Response | Promise<Response>) {
    const answer = read(made)
    this.#kept.delete(key)
    this.#kept.set(key, { state, answer })
    if (this.#kept.size > most) this.#kept.delete(this.#kept.keys().next().value!)
    answer.catch(() => this.#kept.delete(key))
    return answer
  }
}

async function read(made: Response | Promise<Response>): Promise<Answer> {
  const answer = await made
  const headers = ['Content-Type', 'Vary'].map((name) => [name, answer.headers.get(name) ?? ''])
  return { body: await answer.text(), headers: headers as [string, string][] }
}
