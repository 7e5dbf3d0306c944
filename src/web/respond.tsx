import type { Context } from 'hono'
import { raw } from 'hono/html'
import type { Child } from 'hono/jsx'
import type { JSX } from 'hono/jsx/jsx-runtime'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import { endsWithin } from '../platform/pause.ts'
import { clientOf } from './client.ts'
import type { Env } from './factory.ts'
import { CsrfToken } from './form.tsx'
import { InDialog } from './dialog.tsx'
import { People } from './person.tsx'
import { isNavigation, sayNow } from './said.ts'
import { Layout, TabState, tabOf } from './layout.tsx'
import { isLiveRequest, livePartsOf, LiveStream, SeenVersion } from './live.tsx'
import type { Liveness } from './live.tsx'
import type { Look } from './status-badge.tsx'
import { themeOf } from './theme.tsx'

/** One resource in its three representations. */
export type View = {
  title: string
  /** The state of the resource, shown at the start of the title. */
  state?: Look | undefined
  page: () => JSX.Element
  /** The fragment for htmx. By default, or when it fills the frame, it is the page's content. */
  partial?: () => JSX.Element
  json?: () => unknown
  /** Keeps the page's `Live` parts up to date. */
  live?: Liveness
}

/** Responds with the page, the fragment or JSON, as requested. */
export function show(c: Context, view: View, status: ContentfulStatusCode = 200) {
  c.header('Vary', 'Accept, HX-Request, HX-Request-Type, HX-Target, Davit-Live')
  const client = clientOf(c)
  if (client === 'program') return c.json(view.json?.() ?? {}, status)
  const { user, session, csrfToken, seenVersion, nameOf, said: messages } = (c as Context<Env>).var
  const inRequest = (children: Child) => (
    <CsrfToken value={csrfToken}>
      <SeenVersion value={seenVersion}>
        <People.Provider value={nameOf}>{children}</People.Provider>
      </SeenVersion>
    </CsrfToken>
  )
  const page = () => (
    <>
      {view.page()}
      {view.live && view.state && <TabState {...tabOf(view)} />}
      {view.live && <LiveStream path={pathOf(c)} live={view.live} />}
    </>
  )
  if (client === 'partial') {
    if (isLiveRequest(c)) return c.html(livePartsOf(inRequest(page())), status)
    const isPage = c.req.header('HX-Target') === 'main#main'
    const content = isPage ? page() : (view.partial ?? view.page)()
    return c.html(
      inRequest(<InDialog.Provider value={!isPage}>{content}</InDialog.Provider>),
      status,
    )
  }
  const said = session && isNavigation(c) ? messages.take(session.id) : null
  return c.html(
    <>
      {raw('<!DOCTYPE html>')}
      {inRequest(
        <Layout {...tabOf(view)} user={user} path={c.req.path} theme={themeOf(c)} said={said}>
          {page()}
        </Layout>,
      )}
    </>,
    status,
  )
}

function sayNext(c: Context, text: string) {
  const { session, said } = (c as Context<Env>).var
  if (session) said.sayNext(session.id, text)
}

const pathOf = (c: Context) => c.req.path + new URL(c.req.url).search

/** Responds to a change whose form stays on the page: the fragment or JSON, and 303 for a native form. */
export function showSaved(
  c: Context,
  {
    to,
    said,
    created,
    ...view
  }: View & {
    to: string
    /** The message for a person. */
    said?: string
    /** The path of what was created, for a program. */
    created?: string
  },
) {
  const client = clientOf(c)
  if (created && client === 'program') {
    c.header('Location', created)
    return show(c, view, 201)
  }
  if (said && client === 'browser') sayNext(c, said)
  if (said && client === 'partial') sayNow(c, said)
  return client === 'browser' ? c.redirect(to, 303) : show(c, view)
}

/** Responds to a change: redirects a browser to the page that shows it, and sends a program the resource. */
export function moveOn(
  c: Context,
  {
    to,
    json,
    created = false,
    location = to,
    said,
  }: {
    to: string
    json: () => unknown
    created?: boolean
    /** The path of the created resource, if a browser is sent elsewhere. */
    location?: string
    /** The message on the next page: “Variable saved.” */
    said?: string
  },
) {
  const client = clientOf(c)
  if (said && client !== 'program') sayNext(c, said)
  if (client === 'browser') return c.redirect(to, 303)
  if (client === 'partial') {
    c.header('HX-Redirect', to)
    return c.body(null, 200)
  }
  if (!created) return c.json(json() ?? {})
  c.header('Location', location)
  return c.json(json() ?? {}, 201)
}

/** Waits for work as long as a request may take. If that is too short: 202, with the path that shows it. */
export async function awaitOrAccept(
  c: Context,
  work: Promise<unknown>,
  { acceptTimeout, at }: { acceptTimeout: number; at: string },
) {
  if (await endsWithin(acceptTimeout, work)) return
  c.status(202)
  c.header('Location', at)
}
