import type { Server } from 'bun'
import { createFactory } from 'hono/factory'
import type { tokenScopes } from '../db/schema.ts'
import { takeForms } from './form-method.ts'
import type { FormVariables } from './form-method.ts'
import type { NameOf } from './person.tsx'
import type { Said } from './said.ts'
import type { Peer } from './web-socket.ts'

export type User = { id: string; email: string; name: string | null; role: 'admin' | 'member' }

/** The browser session of a request; the CSRF token is bound to its `id`. */
export type Session = { id: string; userId: string }

export type ApiToken = {
  id: string
  name: string
  scopes: (typeof tokenScopes)[number][]
  /** The only project that it reaches; null for all of its user's. */
  projectId: string | null
}

export type Env = {
  /** Absent under `app.request()` in tests. */
  Bindings: {
    server?: Server<Peer>
    /** True when it came through the edge, on the socket that no one else can reach. */
    isEdges?: boolean
  }
  Variables: FormVariables & {
    requestId: string
    /** The address at the other end of the socket: the client's, or a proxy's. */
    peer: string
    isEdges: boolean
    /** True when the request to the edge used HTTPS. */
    isHttps: boolean
    /** The client's address: the socket's, or the one that a trusted proxy forwarded. */
    address: string
    session: Session | null
    /** Instead of a session: a request with a token is authorised by the token alone. */
    token: ApiToken | null
    /** The logged-in user; `requireUser` guarantees it. */
    user: User | null
    /** False once the login has ended or its rights have changed: checked while a stream is open. */
    isLoginAlive: () => boolean
    /** Messages for the next page of a session. */
    said: Said
    /** The name of a user who has set one. */
    nameOf: NameOf
    /** For the forms of this response; different in every response. */
    csrfToken: string
    /** The version of the data on the page, taken before any of it was read. */
    seenVersion: string
    /** The id that this request assigned to a new browser. */
    visitor?: string
  }
}

export const factory = createFactory<Env>({ initApp: takeForms })
