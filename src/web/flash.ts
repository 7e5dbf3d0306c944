import type { Context } from 'hono'
import type { Env } from './factory.ts'

/** The message about a session's change, until its next page shows it. */
const waiting = new Map<string, { text: string; until: number }>()

/** Milliseconds after which a message is outdated, and maximum number of sessions with one. */
const lifetime = 60_000
const mostSessions = 1000

/** The next page of this browser session shows the text, once. */
export function sayNext(c: Context, text: string) {
  const id = sessionOf(c)
  if (!id) return
  waiting.delete(id)
  waiting.set(id, { text, until: Date.now() + lifetime })
  if (waiting.size > mostSessions) waiting.delete(waiting.keys().next().value!)
}

/** The message for this page; null for a request by a script, which shows no page. */
export function takeSaid(c: Context) {
  const id = sessionOf(c)
  const said = id && waiting.get(id)
  if (!said || !isNavigation(c)) return null
  waiting.delete(id)
  return said.until > Date.now() ? said.text : null
}

/** Browsers omit the header without HTTPS. */
const isNavigation = (c: Context) =>
  !c.req.header('HX-Request') && (c.req.header('Sec-Fetch-Dest') ?? 'document') === 'document'

const sessionOf = (c: Context) => (c as Context<Env>).var.session?.id
