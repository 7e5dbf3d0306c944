import type { Context } from 'hono'
import { z } from 'zod'
import type { Db } from '../db/index.ts'
import { apiTokens, tokenScopes } from '../db/schema.ts'
import { rowJson } from '../resources/json.ts'
import { resource } from '../resources/resource.ts'
import { optionsOf } from '../web/labelled-fields.ts'
import { Ago, Day } from '../web/times.tsx'
import type { Env } from '../web/factory.ts'
import { userOf } from '../web/user-of.ts'
import { tokenForm } from './forms.ts'
import { confirmPassword } from './log-in.ts'
import { CurrentPassword } from './login-fields.tsx'
import { noteToken } from './notices.ts'
import { findUser } from './store.ts'
import { listOwnProjects } from '../git/store.ts'
import { makeToken } from './token-store.ts'

const path = '/settings/tokens'

const json = rowJson('Token', apiTokens, ['name', 'projectId', 'lastUsedAt', 'expiresAt'], () => ({
  scopes: z.array(z.enum(tokenScopes)),
}))

/** API tokens are created, listed and revoked in a session, never with a token. */
export const apiToken = resource({
  kind: 'token',
  noun: 'API token',
  path,
  title: 'API tokens',
  part: 'Accounts',
  table: apiTokens,
  owner: apiTokens.userId,
  json,
  about: (
    <>
      A program acts as you with a token: <code>Authorization: Bearer dvt_…</code>. See{' '}
      <a href="/api">what it can call</a>.
    </>
  ),
  empty: 'Create one for a script, or for a pipeline that deploys.',
  row: ({ scopes, projectId, lastUsedAt, expiresAt }) => ({
    tags: scopes,
    facts: [
      ...(projectId ? [<a href={`/projects/${projectId}`}>one project</a>] : []),
      lastUsedAt ? ['last used ', <Ago at={lastUsedAt} />] : 'never used',
      expiresAt
        ? [expiresAt > new Date() ? 'expires on ' : 'expired on ', <Day at={expiresAt} />]
        : 'never expires',
    ],
  }),
  create: {
    verb: 'Create',
    note: '; it is shown only once',
    schema: () => json().extend({ token: z.string() }),
    form: () => tokenForm,
    options: ({ db }: { db: Db }, c: Context<Env>) => ({
      projectId: [
        { value: '', label: 'all of yours' },
        ...optionsOf(listOwnProjects(db, userOf(c).id)),
      ],
    }),
    more: ({ db }, c) =>
      findUser(db, userOf(c).id).passwordHash !== null && <CurrentPassword id="token-password" />,
    async make({ db }, c, { currentPassword, ...wanted }) {
      const { id: userId } = userOf(c)
      await confirmPassword(db, { userId, currentPassword, address: c.var.address })
      const { token, row } = db.transaction(() => {
        const made = makeToken(db, { ...wanted, userId })
        noteToken(db, { ...made.row, email: userOf(c).email })
        return made
      })
      const says = 'Copy this token to where it is used. It is shown only once.'
      return { id: row.id, extra: { token }, once: { text: token, what: 'the token', says } }
    },
    details: ({ scopes, projectId }) => ({
      scopes: scopes.join(', '),
      ...(projectId && { project: projectId }),
    }),
  },
  remove: {
    verb: 'Revoke',
    note: '; lists the others',
    warning: 'Programs that use it stop working at once.',
    lists: true,
  },
})
