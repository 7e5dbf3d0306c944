import type { Context } from 'hono'
import { auditor } from '../audit/record.ts'
import { AppError } from '../platform/errors.ts'
import { clientOf } from '../web/client.ts'
import { factory } from '../web/factory.ts'
import type { Env } from '../web/factory.ts'
import { emptyDraft } from '../web/draft.ts'
import { input } from '../web/input.ts'
import { firstPage, pageOf, paged } from '../web/paging.ts'
import type { Page } from '../web/paging.ts'
import { userOf } from '../web/user-of.ts'
import { moveOn, show, showSaved } from '../web/respond.tsx'
import { settingsView } from '../web/settings-frame.tsx'
import { register, whyClosed } from './admission.ts'
import type { AdmissionDeps } from './admission.ts'
import { deviceOf } from './device.ts'
import { loginForm, registerForm } from './forms.ts'
import { sessionJson, userJson } from './json.ts'
import { knownBrowser } from './known-browser.ts'
import { logIn } from './log-in.ts'
import { takeRememberedPage } from './next-page.ts'
import { endSession, startSession } from './session.ts'
import type { AccountDeps } from './session.ts'
import {
  deleteOtherSessions,
  deleteOwnSession,
  hasUsers,
  listSessions,
  pageOfSessions,
} from './store.ts'
import type { UserRow } from './store.ts'
import { loginView, registerView } from './views.tsx'
import { ResourceList } from '../resources/list.tsx'
import { Button, PostForm } from '../web/form.tsx'
import { Ago } from '../web/times.tsx'

type RouteDeps = AccountDeps & AdmissionDeps

/** Open to everyone. */
export const accountRoutes = (deps: RouteDeps) => {
  const audit = auditor(deps.db)
  const logInView = loginView(deps)

  return factory
    .createApp()
    .get('/login', (c) => {
      if (c.var.user) return c.redirect(takeRememberedPage(c, deps), 303)
      if (!hasUsers(deps.db)) return c.redirect('/auth/register', 303)
      return show(c, logInView(c, { ...emptyDraft, values: c.req.query() }))
    })
    .get('/auth/login', (c) => c.redirect('/login', 303))
    .post('/auth/login', input(loginForm, logInView), async (c) => {
      const { address } = c.var
      const browserOf = (user: UserRow) => knownBrowser(c, deps, user)
      const user = await logIn(deps, { ...c.var.input, address, browserOf })
      startSession(c, deps, user, { isLogin: true })
      audit(c, 'login.succeeded')
      return moveOn(c, { to: takeRememberedPage(c, deps), json: () => userJson(user) })
    })
    .get('/auth/register', (c) => {
      if (c.var.user) return c.redirect('/dashboard', 303)
      const closed = whyClosed(deps, c.req.query('invite'))
      if (closed && clientOf(c) === 'program') throw new AppError('forbidden', closed)
      const view = registerView(deps, { ...emptyDraft, values: c.req.query() })
      return show(c, view, closed ? 403 : 200)
    })
    .post(
      '/auth/register',
      input(registerForm, (_, draft) => registerView(deps, draft)),
      async (c) => {
        const { user, inviter } = await register(deps, { ...c.var.input, address: c.var.address })
        startSession(c, deps, user)
        audit(c, 'user.registered', { details: { ...(inviter && { invited_by: inviter.email }) } })
        const to = clientOf(c) === 'program' ? '/settings/profile' : '/dashboard'
        return moveOn(c, { to, json: () => userJson(user), created: true })
      },
    )
    .post('/auth/logout', (c) => {
      if (c.var.user) audit(c, 'logout')
      endSession(c, deps)
      return moveOn(c, { to: '/login', json: () => ({}) })
    })
}

export const sessionRoutes = (deps: RouteDeps) => {
  const audit = auditor(deps.db)

  return factory
    .createApp()
    .get('/settings/sessions', paged(), (c) => show(c, sessions(c, c.req.valid('query'))))
    .delete('/settings/sessions', (c) => {
      deleteOtherSessions(deps.db, { userId: userOf(c).id, id: c.var.session!.id })
      audit(c, 'sessions.ended')
      const said = 'Your other sessions are ended.'
      return showSaved(c, { to: '/settings/sessions', said, ...sessions(c) })
    })
    .delete('/settings/sessions/:id', (c) => {
      const id = c.req.param('id')
      const { userAgent } = deleteOwnSession(deps.db, { id, userId: userOf(c).id })
      audit(c, 'session.ended', { object: { kind: 'session', id, name: deviceOf(userAgent) } })
      if (id === c.var.session?.id) {
        endSession(c, deps)
        return moveOn(c, { to: '/login', json: () => ({}) })
      }
      return showSaved(c, { to: '/settings/sessions', said: 'Session ended.', ...sessions(c) })
    })

  /** A page shows them all, the last seen first. */
  function sessions(c: Context<Env>, page: Page = firstPage) {
    const currentId = c.var.session?.id
    const all = listSessions(deps.db, userOf(c).id)
    return settingsView(c, {
      path: '/settings/sessions',
      title: 'Sessions',
      list: () => (
        <ResourceList
          path="/settings/sessions"
          title="Sessions"
          about="Where you are logged in. An unused session ends within 30 days."
          action={
            all.length > 1 && (
              <PostForm
                action="/settings/sessions"
                method="DELETE"
                question={{ text: 'End all your other sessions?', answer: 'End sessions' }}
                replaces="#sessions"
              >
                <Button variant="outline">End all others</Button>
              </PostForm>
            )
          }
          rows={all.map(({ id, userAgent, address, createdAt, lastSeenAt }) => ({
            id,
            title: <span title={userAgent}>{deviceOf(userAgent)}</span>,
            label: `the session of ${deviceOf(userAgent)}`,
            badge: id === currentId && 'this browser',
            facts: [
              address,
              <>
                logged in <Ago at={createdAt} />
              </>,
              <>
                last seen <Ago at={lastSeenAt} />
              </>,
            ],
            isKept: id === currentId,
          }))}
          nextCursor={null}
          remove={{ verb: 'End', noun: 'session', asks: false }}
        />
      ),
      json: () => {
        const list = pageOf(pageOfSessions(deps.db, { userId: userOf(c).id, ...page }), page)
        return { ...list, items: list.items.map((session) => sessionJson(session, currentId)) }
      },
    })
  }
}
