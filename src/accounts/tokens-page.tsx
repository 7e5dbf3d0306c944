import { EmptyState, MoreLink } from '../web/components.tsx'
import type { User } from '../web/factory.ts'
import { DeleteButton } from '../web/row-actions.tsx'
import { SettingsFrame } from '../web/settings-frame.tsx'
import { Ago } from '../web/times.tsx'
import type { TokenRow } from './token-store.ts'
import { Button } from '../web/form.tsx'

type Tokens = { tokens: TokenRow[]; nextCursor: string | null }

export const TokensPage = ({ user, made, ...list }: Tokens & { user: User; made?: string }) => (
  <SettingsFrame user={user} path="/settings/tokens">
    <div class="section-head">
      <p class="muted">
        With a token a program works as you do: <code>Authorization: Bearer dvt_…</code>. See{' '}
        <a href="/api">what it can call</a>.
      </p>
      <Button opens="/settings/tokens/new">New token</Button>
    </div>
    {made && <MadeToken token={made} />}
    <TokenList {...list} />
  </SettingsFrame>
)

/** The token itself, the one time that it is there to be shown. */
export const MadeToken = ({ token }: { token: string }) => (
  <div class="alert" role="status">
    <strong>Copy this token to where it is used. It is shown only now.</strong>
    <section>
      <code>{token}</code>
    </section>
  </div>
)

/** `oob` puts it in the place of the list that is on the page, beside what was asked for. */
export const TokenList = ({ tokens, nextCursor, oob = false }: Tokens & { oob?: boolean }) => (
  <section id="tokens" aria-label="API tokens" {...(oob && { 'hx-swap-oob': 'true' })}>
    {tokens.length === 0 ? (
      <EmptyState title="No API tokens">
        <p>Make one for a script, or for a pipeline that deploys.</p>
      </EmptyState>
    ) : (
      <ul class="rows">
        {tokens.map((token) => (
          <TokenItem token={token} />
        ))}
      </ul>
    )}
    <MoreLink href="/settings/tokens" nextCursor={nextCursor} />
  </section>
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
          made <Ago at={token.createdAt} />
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
