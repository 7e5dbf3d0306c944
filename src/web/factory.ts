import type { Server } from 'bun'
import { createFactory } from 'hono/factory'

export type User = { id: string; email: string; name: string | null; role: 'admin' | 'member' }

/** The browser session of a request; its `id` is what the CSRF token is bound to. */
export type Session = { id: string; userId: string }

export type Env = {
  /** Absent under `app.request()` in tests. */
  Bindings: { server?: Server<undefined> }
  Variables: {
    requestId: string
    /** The client's address: the socket's, or what a trusted proxy forwarded. */
    address: string
    session: Session | null
    /** Who is logged in; `requireUser` makes it certain. */
    user: User | null
    csrfToken: string
  }
}

export const factory = createFactory<Env>()
