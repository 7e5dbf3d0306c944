import { clientOf } from '../web/client.ts'
import { factory } from '../web/factory.ts'
import { hasHandler } from '../web/has-handler.ts'
import { notLoggedIn } from '../web/user-of.ts'
import type { VisitorDeps } from '../web/visitor.ts'
import { rememberPage } from './next-page.ts'

/** Lets only who is logged in pass. What does not exist is answered so without a login. */
export const requireUser = (deps: VisitorDeps) =>
  factory.createMiddleware(async function checkUser(c, next) {
    if (c.var.user || !hasHandler(c)) return next()
    if (clientOf(c) !== 'program') rememberPage(c, deps)
    if (clientOf(c) === 'browser') return c.redirect('/login', 303)
    if (clientOf(c) === 'partial') c.header('HX-Redirect', '/login')
    throw notLoggedIn()
  })
