import type { Context } from 'hono'
import { clientOf } from './client.ts'
import type { Env } from './factory.ts'

type Answer = { body: Uint8Array<ArrayBuffer>; headers: [string, string][] }
/** Null when what was made is not to be kept. */
type Kept = { state: unknown[]; answer: Promise<Answer | null> }

/** Answers kept at most; the oldest goes. */
const most = 32

/**
 * Keeps what was answered to one reader for as long as nothing that it says has changed, for pages
 * that take longer to make than to ask whether they are still true.
 */
export class KeptAnswers {
  readonly #kept = new Map<string, Kept>()

  /**
   * `state` is all that the answer depends on besides the address and the reader; its parts are compared
   * by identity. Those who ask while it is being made wait for it together. Only a 200 is kept, and of its
   * headers only those that tell what the body is: the others belong to the request it was made for.
   */
  async answer(c: Context<Env>, state: unknown[], make: () => Response | Promise<Response>) {
    const { user, csrfToken } = c.var
    const key = [c.req.url, clientOf(c), user?.id, csrfToken].join(' ')
    const known = this.#kept.get(key)
    if (!known || !state.every((part, i) => part === known.state[i]))
      return this.#keep(key, state, make())
    const answer = await known.answer
    if (!answer) return make()
    for (const [name, value] of answer.headers) c.header(name, value)
    return c.body(answer.body)
  }

  #keep(key: string, state: unknown[], made: Response | Promise<Response>) {
    const kept = { state, answer: read(made) }
    this.#kept.delete(key)
    this.#kept.set(key, kept)
    if (this.#kept.size > most) this.#kept.delete(this.#kept.keys().next().value!)
    const drop = () => this.#kept.get(key) === kept && this.#kept.delete(key)
    kept.answer.then((answer) => answer ?? drop(), drop)
    return made
  }
}

async function read(made: Response | Promise<Response>): Promise<Answer | null> {
  const answer = (await made).clone() // before the one who asked first has read it
  if (answer.status !== 200) return null
  const headers = ['Content-Type', 'Vary'].map((name) => [name, answer.headers.get(name) ?? ''])
  return {
    body: new Uint8Array(await answer.arrayBuffer()),
    headers: headers as [string, string][],
  }
}
