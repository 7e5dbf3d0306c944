import type { Context } from 'hono'
import type { Deps } from '../deps.ts'
import { AppError } from '../errors.ts'
import { clientOf } from '../web/client.ts'
import { factory } from '../web/factory.ts'
import { emptyDraft, input } from '../web/input.ts'
import type { Draft } from '../web/input.ts'
import { moveOn, show } from '../web/respond.tsx'
import { wantsSetupCode, whyClosed } from './admission.ts'
import { loginForm, registerForm } from './forms.ts'
import { userJson } from './json.ts'
import { logIn } from './log-in.ts'
import { nextPage } from './next-page.ts'
import { register } from './register.ts'
import { endSession, startSession } from './session.ts'
import { hasUsers } from './store.ts'
import { LoginPage, RegisterPage, RegistrationClosedPage } from './views.tsx'

type AccountDeps = Pick<Deps, 'db' | 'secrets' | 'config' | 'setupCode'>

/** Coming in and going out: open to everyone. */
export const accountRoutes = (deps: AccountDeps) =>
  factory
    .createApp()
    .get('/login', (c) => {
      if (c.var.user) return c.redirect(nextPage(c.req.query('next')), 303)
      if (!hasUsers(deps.db)) return c.redirect('/auth/register', 303)
      return show(c, loginView(c, { ...emptyDraft, values: c.req.query() }))
    })
    .post('/auth/login', input(loginForm, loginView), async (c) => {
      const user = await logIn(deps, { ...c.var.input, address: c.var.address })
      startSession(c, deps, user)
      return moveOn(c, { to: nextPage(c.var.input.next), json: () => userJson(user) })
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
        const user = await register(deps, { ...c.var.input, address: c.var.address })
        startSession(c, deps, user)
        const to = clientOf(c) === 'program' ? '/settings/profile' : '/dashboard'
        return moveOn(c, { to, json: () => userJson(user), created: true })
      },
    )
    .post('/auth/logout', (c) => {
      endSession(c, deps)
      return moveOn(c, { to: '/login', json: () => ({}) })
    })

const loginView = (_: Context, draft: Draft) => ({
  title: 'Log in',
  page: () => <LoginPage draft={draft} next={draft.values['next'] ?? null} />,
})

function registerView(deps: AccountDeps, draft: Draft) {
  const invite = draft.values['invite'] ?? null
  const closed = whyClosed(deps, invite)
  if (closed) return { title: 'Register', page: () => <RegistrationClosedPage reason={closed} /> }
  const isFirst = !hasUsers(deps.db)
  return {
    title: isFirst ? 'Set up Davit' : 'Register',
    page: () => (
      <RegisterPage {...{ draft, isFirst, invite }} wantsSetupCode={wantsSetupCode(deps)} />
    ),
  }
}
