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
import { show } from '../web/respond.tsx'
import { userOf } from '../web/user-of.ts'
import { confirmPassword } from './confirm-password.ts'
import { tokenForm } from './forms.ts'
import { tokenJson } from './json.ts'
import { makeToken } from './make-token.ts'
import { MadeTokenModal, NewTokenModal } from './token-modal.tsx'
import { deleteOwnToken, listTokens } from './token-store.ts'
import { TokenList, TokensPage } from './tokens-page.tsx'
import { findUser } from './user-store.ts'

const firstPage: Page = { limit: 50 }

/** A user's API tokens: made, listed and revoked by a person, never by a token. */
export const tokenRoutes = ({ db }: { db: Db }) => {
  const audit = auditor(db)

  return factory
    .createApp()
    .get('/settings/tokens', paged(), (c) => show(c, tokens(c, c.req.valid('query'))))
    .get('/settings/tokens/new', (c) => show(c, newToken(c, emptyDraft)))
    .post('/settings/tokens', input(tokenForm, newToken), async (c) => {
      const { currentPassword: password = null, ...wanted } = c.var.input
      const { id: userId } = userOf(c)
      await confirmPassword(db, { userId, password, address: c.var.address })
      const { token, row } = makeToken(db, { ...wanted, userId })
      const { id, name } = row
      const details = { scopes: row.scopes.join(', ') }
      audit(c, 'token.created', { object: { kind: 'token', id, name }, details })
      if (clientOf(c) === 'program') {
        c.header('Location', '/settings/tokens')
        return c.json({ ...tokenJson(row), token }, 201)
      }
      const list = pageOf(ownTokens(c, firstPage), firstPage)
      return show(c, {
        title: 'API tokens',
        page: () => (
          <TokensPage
            user={userOf(c)}
            tokens={list.items}
            nextCursor={list.nextCursor}
            made={token}
          />
        ),
        partial: () => (
          <>
            <MadeTokenModal name={name} token={token} />
            <TokenList tokens={list.items} nextCursor={list.nextCursor} oob />
          </>
        ),
      })
    })
    .delete('/settings/tokens/:id', (c) => {
      const id = c.req.param('id')
      const { name } = deleteOwnToken(db, { id, userId: userOf(c).id })
      audit(c, 'token.revoked', { object: { kind: 'token', id, name } })
      return clientOf(c) === 'browser'
        ? c.redirect('/settings/tokens', 303)
        : show(c, tokens(c, firstPage))
    })

  function tokens(c: Context, page: Page) {
    const { items, nextCursor } = pageOf(ownTokens(c, page), page)
    return {
      title: 'API tokens',
      page: () => <TokensPage user={userOf(c)} tokens={items} nextCursor={nextCursor} />,
      partial: () => <TokenList tokens={items} nextCursor={nextCursor} />,
      json: () => ({ items: items.map(tokenJson), nextCursor }),
    }
  }

  function ownTokens(c: Context, page: Page) {
    return listTokens(db, { userId: userOf(c).id, ...page })
  }

  function newToken(c: Context, draft: Draft) {
    const hasPassword = findUser(db, userOf(c).id).passwordHash !== null
    return {
      title: 'New API token',
      page: () => <NewTokenModal draft={draft} hasPassword={hasPassword} />,
    }
  }
}
