import { EmptyState, MoreLink } from '../web/components.tsx'
import type { User } from '../web/factory.ts'
import { DeleteButton, DialogButton } from '../web/row-actions.tsx'
import { SettingsFrame } from '../web/settings-frame.tsx'
import { Ago } from '../web/times.tsx'
import { providers } from './providers/registry.ts'
import type { Source } from './store.ts'
import { Button } from '../web/form.tsx'

type Sources = { items: Source[]; nextCursor: string | null }

export const SourcesPage = ({ user, ...list }: Sources & { user: User }) => (
  <SettingsFrame user={user} path="/settings/git">
    <SourceList {...list} />
  </SettingsFrame>
)

/** `oob` puts it in the place of the list that is on the page, beside what was asked for. */
export const SourceList = ({ items, nextCursor, oob = false }: Sources & { oob?: boolean }) => (
  <section id="git-sources" aria-label="Git sources" {...(oob && { 'hx-swap-oob': 'true' })}>
    <div class="section-head">
      <p class="muted">
        With a source you pick repositories and branches from lists, private ones too.
      </p>
      <Button opens="/settings/git/new">New source</Button>
    </div>
    {items.length === 0 ? (
      <EmptyState title="No git sources">
        <p>Connect an account at GitHub, GitLab, Gitea or Forgejo with an access token.</p>
      </EmptyState>
    ) : (
      <ul class="rows">
        {items.map((source) => (
          <SourceItem source={source} />
        ))}
      </ul>
    )}
    <MoreLink href="/settings/git" nextCursor={nextCursor} />
  </section>
)

const SourceItem = ({ source }: { source: Source }) => (
  <li>
    <div class="row-main">
      <strong>
        <bdi>{source.name}</bdi>
      </strong>{' '}
      <span class="tag">{providers[source.provider].title}</span>
      <p class="row-facts">
        <bdi>{source.login}</bdi>
        <span>{new URL(source.baseUrl).host}</span>
        <span>
          added <Ago at={source.createdAt} />
        </span>
      </p>
    </div>
    <div class="row-actions">
      <DialogButton path={`/settings/git/${source.id}`} label={`Check the token of ${source.name}`}>
        Check
      </DialogButton>
      <DeleteButton
        path={`/settings/git/${source.id}`}
        label={`Remove ${source.name}`}
        question={{ text: `Remove the git source ${source.name}?`, answer: 'Remove source' }}
      >
        Remove
      </DeleteButton>
    </div>
  </li>
)
