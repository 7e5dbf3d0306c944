import type { Server } from 'bun'
import { createFactory } from 'hono/factory'
import type { tokenScopes } from '../db/schema.ts'

export type User = { id: string; email: string; name: string | null; role: 'admin' | 'member' }

/** The browser session of a request; its `id` is what the CSRF token is bound to. */
export type Session = { id: string; userId: string }

/** The API token of a request that came with one. */
export type ApiToken = { id: string; name: string; scopes: (typeof tokenScopes)[number][] }

export type Env = {
  /** Absent under `app.request()` in tests. */
  Bindings: { server?: Server<undefined> }
  Variables: {
    requestId: string
    /** The client's address: the socket's, or what a trusted proxy forwarded. */
    address: string
    session: Session | null
    /** Instead of a session: a request that shows a token is judged by it alone. */
    token: ApiToken | null
    /** Who is logged in; `requireUser` makes it certain. */
    user: User | null
    csrfToken: string
  }
}

export const factory = createFactory<Env>()
