import { showsSecret } from '../web/compress.ts'
import type { Context } from 'hono'
import { auditor } from '../audit/record.ts'
import type { Db } from '../db/index.ts'
import { clientOf } from '../web/client.ts'
import { factory } from '../web/factory.ts'
import { emptyDraft } from '../web/draft.ts'
import { input } from '../web/input.ts'
import type { Draft } from '../web/draft.ts'
import { pageOf, paged } from '../web/paging.ts'
import type { Page } from '../web/paging.ts'
import { show, showSaved } from '../web/respond.tsx'
import { settingsView } from '../web/settings-frame.tsx'
import { userOf } from '../web/user-of.ts'
import { confirmPassword } from './log-in.ts'
import { tokenForm } from './forms.ts'
import { tokenJson } from './json.ts'
import { findUser } from './store.ts'
import { MadeTokenModal, NewTokenModal } from './token-modal.tsx'
import { deleteOwnToken, listTokens, makeToken } from './token-store.ts'
import { TokenList } from './tokens-page.tsx'

const path = '/settings/tokens'
const firstPage: Page = { limit: 50 }

/** A user's API tokens: created, listed and revoked in a session, never with a token. */
export const tokenRoutes = ({ db }: { db: Db }) => {
  const audit = auditor(db)

  return factory
    .createApp()
    .get(path, paged(), (c) => show(c, tokens(c, c.req.valid('query'))))
    .get(`${path}/new`, (c) => show(c, newToken(c, emptyDraft)))
    .post(path, input(tokenForm, newToken), async (c) => {
      const { currentPassword, ...wanted } = c.var.input
      const { id: userId } = userOf(c)
      await confirmPassword(db, { userId, currentPassword, address: c.var.address })
      const { token, row } = makeToken(db, { ...wanted, userId })
      showsSecret(c)
      const { id, name } = row
      const details = { scopes: row.scopes.join(', ') }
      audit(c, 'token.created', { object: { kind: 'token', id, name }, details })
      if (clientOf(c) === 'program') {
        c.header('Location', path)
        return c.json({ ...tokenJson(row), token }, 201)
      }
      const view = tokens(c, firstPage, { made: token })
      const partial = () => (
        <>
          <MadeTokenModal name={name} token={token} />
          {tokens(c, firstPage, { oob: true }).partial?.()}
        </>
      )
      return show(c, { ...view, partial })
    })
    .delete(`${path}/:id`, (c) => {
      const id = c.req.param('id')
      const { name } = deleteOwnToken(db, { id, userId: userOf(c).id })
      audit(c, 'token.revoked', { object: { kind: 'token', id, name } })
      return showSaved(c, { to: path, said: 'Token revoked.', ...tokens(c, firstPage) })
    })

  function tokens(c: Context, page: Page, as: { made?: string; oob?: boolean } = {}) {
    const rows = listTokens(db, { userId: userOf(c).id, ...page })
    const { items, nextCursor } = pageOf(rows, page)
    return settingsView(c, {
      path,
      title: 'API tokens',
      list: () => <TokenList tokens={items} nextCursor={nextCursor} {...as} />,
      json: () => ({ items: items.map(tokenJson), nextCursor }),
    })
  }

  function newToken(c: Context, draft: Draft) {
    const hasPassword = findUser(db, userOf(c).id).passwordHash !== null
    return {
      title: 'New API token',
      page: () => <NewTokenModal draft={draft} hasPassword={hasPassword} />,
    }
  }
}
