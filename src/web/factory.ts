import type { Server } from 'bun'
import { createFactory } from 'hono/factory'
import type { AppError } from '../platform/errors.ts'
import type { tokenScopes } from '../db/schema.ts'
import { takeForms } from './form-method.ts'
import type { NameOf } from './person.tsx'
import type { Peer } from './web-socket.ts'

export type User = { id: string; email: string; name: string | null; role: 'admin' | 'member' }

/** The browser session of a request; its `id` is what the CSRF token is bound to. */
export type Session = { id: string; userId: string }

/** The API token of a request that came with one. */
export type ApiToken = { id: string; name: string; scopes: (typeof tokenScopes)[number][] }

export type Env = {
  /** Absent under `app.request()` in tests. */
  Bindings: {
    server?: Server<Peer>
    /** Whether it came through the edge, on the socket that no one else can reach. */
    isEdges?: boolean
  }
  Variables: {
    requestId: string
    /** The address at the other end of the socket: the client's, or a proxy's. */
    peer: string
    /** Whether it came through the edge. */
    isEdges: boolean
    /** Whether the request to the edge used HTTPS. */
    isHttps: boolean
    /** The client's address: the socket's, or what a trusted proxy forwarded. */
    address: string
    session: Session | null
    /** Instead of a session: a request with a token is authorised by the token alone. */
    token: ApiToken | null
    /** The logged-in user; `requireUser` guarantees it. */
    user: User | null
    /** Whether the login is still valid with the same rights: checked while a stream is open. */
    isLoginAlive: () => boolean
    /** For the forms of this answer, which differs from that of any other. */
    /** The name that a user goes by, where they gave one. */
    nameOf: NameOf
    csrfToken: string
    /** The version of what can be seen, from before anything was read for the answer. */
    seenVersion: string
    /** The id that this request assigned to a new browser. */
    visitor?: string
    /** Why a form is refused that stood open too long: it is drawn again, and changes nothing. */
    refusal?: AppError
    /** The method that a form without script overrides its POST with; null for other requests. Unset until the body is read. */
    formMethod?: FormMethod | null
  }
}

/** The methods that HTML forms don't have. */
export type FormMethod = 'PUT' | 'DELETE'

export const factory = createFactory<Env>({ initApp: takeForms })
