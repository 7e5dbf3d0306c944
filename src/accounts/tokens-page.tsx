import { EmptyState, ShownOnce } from '../web/components.tsx'
import { DeleteButton } from '../web/row-actions.tsx'
import { SettingsList } from '../web/settings-frame.tsx'
import { Ago } from '../web/times.tsx'
import type { TokenRow } from './token-store.ts'
import { ButtonLink } from '../web/form.tsx'

type Tokens = { tokens: TokenRow[]; nextCursor: string | null; made?: string; oob?: boolean }

/** `made` is a new token's text; `oob` puts the list in the place of the one on the page, beside what was asked for. */
export const TokenList = ({ tokens, nextCursor, made, oob = false }: Tokens) => (
  <SettingsList
    id="tokens"
    aria-label="API tokens"
    {...(oob && { 'hx-swap-oob': 'true' })}
    about={
      <>
        With a token a program works as you do: <code>Authorization: Bearer dvt_…</code>. See{' '}
        <a href="/api">what it can call</a>.
      </>
    }
    action={<ButtonLink opens="/settings/tokens/new">New token</ButtonLink>}
    rows={tokens.map((token) => (
      <TokenItem token={token} />
    ))}
    empty={
      <EmptyState title="No API tokens">
        <p>Create one for a script, or for a pipeline that deploys.</p>
      </EmptyState>
    }
    more={{ href: '/settings/tokens', nextCursor }}
  >
    {made && <MadeToken token={made} />}
  </SettingsList>
)

/** The token itself, the one time that it is there to be shown. */
export const MadeToken = ({ token }: { token: string }) => (
  <ShownOnce text={token}>Copy this token to where it is used. It is shown only now.</ShownOnce>
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
        <span>{expiry(token)}</span>
      </p>
    </div>
    <DeleteButton
      path={`/settings/tokens/${token.id}`}
      label={`Revoke ${token.name}`}
      question={{
        text: `Revoke the token ${token.name}? What uses it is refused at once.`,
        answer: 'Revoke token',
      }}
      target="#tokens"
      swap="outerHTML"
    >
      Revoke
    </DeleteButton>
  </li>
)

function expiry({ expiresAt }: TokenRow) {
  if (!expiresAt) return 'never expires'
  const day = expiresAt.toISOString().slice(0, 10)
  return expiresAt > new Date() ? `expires on ${day}` : `expired on ${day}`
}
