import type { Context } from 'hono'
import type { Env } from './factory.ts'

/** What a browser session is told of the change that it made, until its next page says it. */
const waiting = new Map<string, { text: string; until: number }>()

/** Milliseconds after which it would be news no more, and sessions of which it is kept. */
const lifetime = 60_000
const mostSessions = 1000

/** Has the next page of this browser session say a sentence, once. */
export function sayNext(c: Context, text: string) {
  const id = sessionOf(c)
  if (!id) return
  waiting.delete(id)
  waiting.set(id, { text, until: Date.now() + lifetime })
  if (waiting.size > mostSessions) waiting.delete(waiting.keys().next().value!)
}

/** The sentence that this page says. Null for what a script fetches, which shows no page. */
export function takeSaid(c: Context) {
  const id = sessionOf(c)
  const said = id && waiting.get(id)
  if (!said || !isNavigation(c)) return null
  waiting.delete(id)
  return said.until > Date.now() ? said.text : null
}

/** Browsers leave the header out where there is no HTTPS. */
const isNavigation = (c: Context) =>
  !c.req.header('HX-Request') && (c.req.header('Sec-Fetch-Dest') ?? 'document') === 'document'

const sessionOf = (c: Context) => (c as Context<Env>).var.session?.id
