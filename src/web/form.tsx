import { createContext, useContext } from 'hono/jsx'
import type { Child } from 'hono/jsx'

const Token = createContext('')

/** Gives every form below it the CSRF token of the request. */
export const CsrfToken = ({ value, children }: { value: string; children: Child }) => (
  <Token.Provider value={value}>{children}</Token.Provider>
)

/** A form that works without scripts; what navigates is posted natively, so that a 303 is a 303. */
export const PostForm = ({
  action,
  children,
  class: className,
  upload = false,
  ...htmx
}: {
  action: string
  children: Child
  class?: string
  /** It has a field for a file. */
  upload?: boolean
  [htmx: `hx-${string}`]: string
}) => (
  <form
    method="post"
    action={action}
    class={className}
    enctype={upload ? 'multipart/form-data' : undefined}
    {...htmx}
  >
    <input type="hidden" name="csrf_token" value={useContext(Token)} />
    {children}
  </form>
)
