import type { Context } from 'hono'
import { AppError } from '../platform/errors.ts'
import { emptyDraft } from '../web/draft.ts'
import type { Draft } from '../web/draft.ts'
import { factory } from '../web/factory.ts'
import { FormError } from '../web/fields-view.tsx'
import { Button, ButtonLink, PostForm } from '../web/form.tsx'
import { input } from '../web/input.ts'
import { moveOn, show } from '../web/respond.tsx'
import type { View } from '../web/respond.tsx'
import { sendsAccountMail } from './account-mail.ts'
import { forgottenForm, resetForm } from './forms.ts'
import { EmailField, NewPassword } from './login-fields.tsx'
import { getResetByToken, deleteExpiredResets, insertReset } from './reset-store.ts'
import type { AccountDeps } from './session.ts'
import type { Db, Tx } from '../db/index.ts'
import { asWriter } from '../db/queries.ts'
import { newId } from '../db/new-id.ts'
import { insertAccountMail } from '../notifications/outbox-store.ts'
import { hashToken } from '../platform/secrets.ts'
import type { Secrets } from '../platform/secrets.ts'
import { linkToken } from './link-token.ts'
import { hashPassword } from './passwords.ts'
import { storePassword } from './reset-password.ts'
import { getUserByEmail } from './store.ts'
import { countTry } from './throttle.ts'

/** Open to everyone: a new password by mail. */
export const forgottenRoutes = (deps: AccountDeps) => {
  const { db } = deps
  const refuseWithoutMail = () => {
    if (!sendsAccountMail(db)) throw noMail()
  }

  return factory
    .createApp()
    .get('/auth/forgotten', (c) => {
      refuseWithoutMail()
      return show(c, forgottenView(c, emptyDraft))
    })
    .post('/auth/forgotten', input(forgottenForm, forgottenView), (c) => {
      refuseWithoutMail()
      mailReset(deps, { ...c.var.input, address: c.var.address })
      return show(c, { title: 'Check your mail', page: () => <MailSent />, json: () => ({}) })
    })
    .get('/auth/password', (c) => {
      const token = c.req.query('reset') ?? ''
      if (!getResetByToken(db, token)) return show(c, expiredView(db), 403)
      return show(c, passwordView(c, { ...emptyDraft, values: { reset: token } }))
    })
    .post('/auth/password', input(resetForm, passwordView), async (c) => {
      const { reset: token, password } = c.var.input
      await resetByMail(db, { token, password, address: c.var.address })
      return moveOn(c, {
        to: '/login',
        said: 'Password changed. Log in with it.',
        json: () => ({}),
      })
    })
}

const withoutMail =
  'This Davit sends no mails. Ask its operator to reset your password with “davit user reset-password”.'

const noMail = () => new AppError('conflict', withoutMail)

const forgottenView = (_: Context, draft: Draft): View => ({
  title: 'Forgotten password',
  page: () => (
    <>
      <h1>Forgotten password</h1>
      <p>Enter the e-mail address of your account, to get a link for a new password.</p>
      <PostForm action="/auth/forgotten" class="form" draft={draft}>
        <FormError />
        <EmailField autofocus />
        <Button>Send link</Button>
      </PostForm>
      <BackToLogin />
    </>
  ),
})

/** The same whether there is such an account. */
const MailSent = () => (
  <>
    <h1>Check your mail</h1>
    <p role="status">
      If this address has an account, a mail with a link is on its way. The link works for an hour.
    </p>
    <BackToLogin />
  </>
)

const passwordView = (_: Context, draft: Draft): View => ({
  title: 'New password',
  page: () => (
    <>
      <h1>New password</h1>
      <PostForm action="/auth/password" class="form" draft={draft}>
        <FormError />
        <input type="hidden" name="reset" value={draft.values['reset'] ?? ''} />
        <NewPassword label="New password" />
        <Button>Set password</Button>
      </PostForm>
      <BackToLogin />
    </>
  ),
})

const expiredView = (db: Db): View => ({
  title: 'New password',
  page: () => (
    <>
      <h1>New password</h1>
      <p role="alert">{whyInvalid}</p>
      {sendsAccountMail(db) ? (
        <ButtonLink href="/auth/forgotten">Send another link</ButtonLink>
      ) : (
        <p>{withoutMail}</p>
      )}
      <BackToLogin />
    </>
  ),
})

const BackToLogin = () => (
  <p class="muted">
    <a href="/login">Back to the login</a>
  </p>
)

/** In milliseconds. */
const lifetime = 3_600_000

/**
 * Mails a link to the account's address. What a visitor sees is the same when there is none: so few requests are
 * allowed that their time tells nothing.
 */
function mailReset(
  { db, secrets }: { db: Db; secrets: Secrets },
  { email, address }: { email: string; address: string },
) {
  countTry(db, { email: `reset of ${email}`, address, isLogin: false })
  const user = getUserByEmail(db, email)
  if (!user || user.disabledAt) return
  const id = newId()
  const tokenHash = hashToken(linkToken(secrets, id))
  db.transaction((tx) => {
    deleteExpiredResets(tx)
    insertReset(tx, { id, userId: user.id, tokenHash, expiresAt: new Date(Date.now() + lifetime) })
    insertAccountMail(tx, { ownerId: user.id, subjectId: id })
  })
}

/** Throws unless the link of a mail is valid; it works once. */
async function resetByMail(
  db: Db,
  { token, password, address }: { token: string; password: string; address: string },
) {
  findReset(db, token) // one that isn't must not cost a hash
  const passwordHash = await hashPassword(password)
  asWriter(db, (tx) => {
    const { user } = findReset(tx, token)
    storePassword(tx, { user, passwordHash, actor: user, address })
  })
}

function findReset(db: Tx, token: string) {
  const found = getResetByToken(db, token)
  if (found) return found
  throw new AppError('forbidden', whyInvalid)
}

const whyInvalid = 'This link was used, has expired or isn’t complete.'
