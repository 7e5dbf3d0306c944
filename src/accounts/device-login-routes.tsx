import type { Context } from 'hono'
import { z } from 'zod'
import { auditor } from '../audit/record.ts'
import { invalidField } from '../platform/errors.ts'
import type { Draft } from '../web/draft.ts'
import { emptyDraft } from '../web/draft.ts'
import { factory } from '../web/factory.ts'
import type { Env } from '../web/factory.ts'
import { TextField } from '../web/fields-view.tsx'
import { line, typedCode } from '../web/fields.ts'
import { Button, Form, PostForm } from '../web/form.tsx'
import { input } from '../web/input.ts'
import { query } from '../web/query.ts'
import { moveOn, show } from '../web/respond.tsx'
import { Ago } from '../web/times.tsx'
import { userOf } from '../web/user-of.ts'
import {
  allowDeviceLogin,
  deviceLoginTime,
  getWaiting,
  refuseDeviceLogin,
  startDeviceLogin,
  takeDeviceToken,
} from './device-login-store.ts'
import type { DeviceLogin } from './device-login-store.ts'
import { confirmPassword } from './log-in.ts'
import { CurrentPassword } from './login-fields.tsx'
import type { AccountDeps } from './session.ts'
import { findUser } from './store.ts'

const path = '/settings/device'

const startForm = z.object({ name: line('a name of the computer', { max: 60 }) })
const secretForm = z.object({ secret: line('the secret of the login', { max: 100 }) })

const code = typedCode('the code that the terminal shows')

const answerForm = z.object({
  code,
  /** Without one, the login is shown. */
  answer: z.enum(['allow', 'refuse'], 'must be allow or refuse.').nullish(),
  currentPassword: z.string('must be your password.').max(4096, 'is too long.').nullish(),
})

/** Milliseconds between two questions of the computer. */
const interval = 2000

/** For the computer, which has no login yet. */
export const deviceLoginRoutes = ({ db }: AccountDeps) =>
  factory
    .createApp()
    .post('/auth/device', input(startForm), (c) => {
      const { secret, code } = startDeviceLogin(db, { ...c.var.input, address: c.var.address })
      return c.json({ secret, code, interval, expiresIn: deviceLoginTime }, 201)
    })
    .post('/auth/device/token', input(secretForm), (c) =>
      c.json(takeDeviceToken(db, c.var.input.secret) ?? { token: null, email: null }),
    )

/** Its user compares the code in a browser, and allows or refuses the login. */
export const deviceAnswerRoutes = ({ db }: AccountDeps) => {
  const audit = auditor(db)

  return factory
    .createApp()
    .get(path, query(z.object({ code: code.optional() })), (c) => {
      const values = { code: c.req.valid('query').code ?? '' }
      return show(c, view(c, { ...emptyDraft, values }))
    })
    .post(path, input(answerForm, view), async (c) => {
      const { code, answer, currentPassword } = c.var.input
      const { id: userId } = userOf(c)
      const login = getWaiting(db, code)
      if (!login) throw over()
      if (!answer) return moveOn(c, { to: `${path}?code=${code}`, json: () => ({}) })
      const { id, name } = login
      if (answer === 'allow') {
        await confirmPassword(db, { userId, currentPassword, address: c.var.address })
        db.transaction(() => {
          if (!allowDeviceLogin(db, { id, userId })) throw over() // while the password was checked
          audit(c, 'device.allowed', { object: { kind: 'device', id, name } })
        })
      } else refuseDeviceLogin(db, id)
      const said = answer === 'allow' ? `${name} is logged in.` : `${name} was refused.`
      return moveOn(c, { to: '/settings/tokens', said, json: () => ({}) })
    })

  function view(c: Context<Env>, draft: Draft) {
    const login = draft.values['code'] ? getWaiting(db, draft.values['code']) : undefined
    const hasPassword = findUser(db, userOf(c).id).passwordHash !== null
    return {
      title: 'Log in a computer',
      page: () => (
        <section class="narrow">
          <header class="page-head">
            <h1>Log in a computer</h1>
          </header>
          {login ? <Answer {...{ login, draft, hasPassword }} /> : <Code draft={draft} />}
        </section>
      ),
      json: () => ({}),
    }
  }
}

const over = () => invalidField('code', 'is of no login that waits. Run davit login again.')

const Code = ({ draft }: { draft: Draft }) => (
  <Form action={path} draft={draft} buttons={<Button>Continue</Button>}>
    <TextField
      name="code"
      label="Code"
      hint="The terminal shows it after “davit login”. It works for ten minutes."
      autocomplete="off"
      required
      code
      autofocus
    />
  </Form>
)

const Answer = ({
  login: { name, network, createdAt },
  draft,
  hasPassword,
}: {
  login: DeviceLogin
  draft: Draft
  hasPassword: boolean
}) => (
  <>
    <Form action={path} draft={draft} buttons={<Button>Allow the login</Button>}>
      <p>
        <strong>
          <bdi>{name}</bdi>
        </strong>{' '}
        at {network} asked <Ago at={createdAt} /> to act as you: it gets an API token with the scope
        write, for a year.
      </p>
      <p>
        Allow it only if you have just run <code>davit login</code> there, and it shows the code{' '}
        <code>{draft.values['code']}</code>.
      </p>
      <input type="hidden" name="code" value={draft.values['code']} />
      <input type="hidden" name="answer" value="allow" />
      {hasPassword && <CurrentPassword />}
    </Form>
    <PostForm action={path}>
      <input type="hidden" name="code" value={draft.values['code']} />
      <input type="hidden" name="answer" value="refuse" />
      <Button variant="outline">Refuse the login</Button>
    </PostForm>
  </>
)
