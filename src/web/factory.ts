import type { Server } from 'bun'
import { createFactory } from 'hono/factory'
import type { tokenScopes } from '../db/schema.ts'
import { takeForms } from './form-method.ts'
import type { Peer } from './web-socket.ts'

export type User = { id: string; email: string; name: string | null; role: 'admin' | 'member' }

/** The browser session of a request; its `id` is what the CSRF token is bound to. */
export type Session = { id: string; userId: string }

/** The API token of a request that came with one. */
export type ApiToken = { id: string; name: string; scopes: (typeof tokenScopes)[number][] }

export type Env = {
  /** Absent under `app.request()` in tests. */
  Bindings: { server?: Server<Peer> }
  Variables: {
    requestId: string
    /** The address at the other end of the socket: the client's, or a proxy's. */
    peer: string
    /** The client's address: the socket's, or what a trusted proxy forwarded. */
    address: string
    session: Session | null
    /** Instead of a session: a request that shows a token is judged by it alone. */
    token: ApiToken | null
    /** Who is logged in; `requireUser` makes it certain. */
    user: User | null
    /** Whether the login still holds, with the rights that it had then: asked for as long as a stream is open. */
    isLoginAlive: () => boolean
    csrfToken: string
    /** The id that this request gave a browser without one. */
    visitor?: string
    /** What a form without script means by its POST; null for any other request. Unset until the body is read. */
    formMethod?: FormMethod | null
  }
}

/** The methods that no form has. */
export type FormMethod = 'PUT' | 'DELETE'

export const factory = createFactory<Env>({ initApp: takeForms })
