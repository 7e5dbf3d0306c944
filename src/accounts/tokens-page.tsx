import { EmptyState, ShownOnce } from '../web/components.tsx'
import { DeleteButton } from '../web/row-actions.tsx'
import { SettingsList } from '../web/settings-frame.tsx'
import { Ago, Day } from '../web/times.tsx'
import type { TokenRow } from './token-store.ts'
import { ButtonLink } from '../web/form.tsx'

type Tokens = { tokens: TokenRow[]; nextCursor: string | null; made?: string; oob?: boolean }

/** `made` is a new token's text; `oob` replaces the list on the page, beside the main response. */
export const TokenList = ({ tokens, nextCursor, made, oob = false }: Tokens) => (
  <SettingsList
    id="tokens"
    aria-label="API tokens"
    {...(oob && { 'hx-swap-oob': 'true' })}
    about={
      <>
        A program acts as you with a token: <code>Authorization: Bearer dvt_…</code>. See{' '}
        <a href="/api">what it can call</a>.
      </>
    }
    action={tokens.length > 0 && <NewToken />}
    rows={tokens.map((token) => (
      <TokenItem token={token} />
    ))}
    empty={
      <EmptyState title="No API tokens">
        <p>Create one for a script, or for a pipeline that deploys.</p>
        <NewToken />
      </EmptyState>
    }
    more={{ href: '/settings/tokens', nextCursor }}
  >
    {made && <MadeToken token={made} />}
  </SettingsList>
)

const NewToken = () => (
  <ButtonLink icon="plus" opens="/settings/tokens/new">
    New token
  </ButtonLink>
)

/** The token itself, shown once. */
export const MadeToken = ({ token }: { token: string }) => (
  <ShownOnce text={token} what="the token">
    Copy this token to where it is used. It is shown only once.
  </ShownOnce>
)

const TokenItem = ({ token }: { token: TokenRow }) => (
  <li>
    <div class="row-main">
      <strong>
        <bdi>{token.name}</bdi>
      </strong>{' '}
      {token.scopes.map((scope) => (
        <span class="tag">{scope}</span>
      ))}
      <p class="row-facts">
        <span>
          created <Ago at={token.createdAt} />
        </span>
        <span>
          last used <Ago at={token.lastUsedAt} />
        </span>
        <span>
          <Expiry expiresAt={token.expiresAt} />
        </span>
      </p>
    </div>
    <DeleteButton
      path={`/settings/tokens/${token.id}`}
      label={`Revoke ${token.name}`}
      question={{
        text: `Revoke the token ${token.name}? Programs that use it stop working at once.`,
        answer: 'Revoke token',
      }}
      target="#tokens"
      swap="outerHTML"
    >
      Revoke
    </DeleteButton>
  </li>
)

const Expiry = ({ expiresAt }: Pick<TokenRow, 'expiresAt'>) =>
  expiresAt ? (
    <>
      {expiresAt > new Date() ? 'expires on ' : 'expired on '}
      <Day at={expiresAt} />
    </>
  ) : (
    <>never expires</>
  )
