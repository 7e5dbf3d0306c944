import type { Context } from 'hono'
import { raw } from 'hono/html'
import type { JSX } from 'hono/jsx/jsx-runtime'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import { clientOf } from './client.ts'
import type { Env } from './factory.ts'
import { CsrfToken } from './form.tsx'
import { Layout } from './layout.tsx'

/** One resource in the three forms that its readers ask for. */
export type View = {
  /** Of the page, in the browser's tab. */
  title: string
  /** What stands in the page's frame. */
  page: () => JSX.Element
  /** The fragment for htmx; the page's content when left out. */
  partial?: () => JSX.Element
  json?: () => unknown
}

/** Answers with the page, the fragment or JSON, as the client asked. */
export function show(c: Context, view: View, status: ContentfulStatusCode = 200) {
  c.header('Vary', 'Accept, HX-Request, HX-Request-Type')
  const client = clientOf(c)
  if (client === 'program') return c.json(view.json?.() ?? {}, status)
  const { user, csrfToken } = (c as Context<Env>).var
  if (client === 'partial')
    return c.html(<CsrfToken value={csrfToken}>{(view.partial ?? view.page)()}</CsrfToken>, status)
  return c.html(
    <>
      {raw('<!DOCTYPE html>')}
      <CsrfToken value={csrfToken}>
        <Layout title={view.title} user={user} path={c.req.path}>
          {view.page()}
        </Layout>
      </CsrfToken>
    </>,
    status,
  )
}

/** Answers a change whose form stays on the page: the fragment or JSON, and 303 for who left the page. */
export const showSaved = (c: Context, { to, ...view }: View & { to: string }) =>
  clientOf(c) === 'browser' ? c.redirect(to, 303) : show(c, view)

/** Answers a change by sending a person on to the page that shows it, a program the resource itself. */
export function moveOn(
  c: Context,
  {
    to,
    json,
    created = false,
    location = to,
  }: {
    to: string
    json: () => unknown
    created?: boolean
    /** Of what was created, when a person is sent somewhere else. */
    location?: string
  },
) {
  const client = clientOf(c)
  if (client === 'browser') return c.redirect(to, 303)
  if (client === 'partial') {
    c.header('HX-Redirect', to)
    return c.body(null, 200)
  }
  if (!created) return c.json(json() ?? {})
  c.header('Location', location)
  return c.json(json() ?? {}, 201)
}
