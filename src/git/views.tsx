import { EmptyState } from '../web/components.tsx'
import { DeleteButton, DialogButton } from '../web/row-actions.tsx'
import { SettingsList } from '../web/settings-frame.tsx'
import { Ago } from '../web/times.tsx'
import { providers } from './providers/registry.ts'
import type { Source } from './store.ts'
import { ButtonLink } from '../web/form.tsx'

type Sources = { items: Source[]; nextCursor: string | null; oob?: boolean }

/** `oob` puts it in the place of the list that is on the page, beside what was asked for. */
export const SourceList = ({ items, nextCursor, oob = false }: Sources) => (
  <SettingsList
    id="git-sources"
    aria-label="Git sources"
    {...(oob && { 'hx-swap-oob': 'true' })}
    about="With a source you pick repositories and branches from lists, private ones too."
    action={<ButtonLink opens="/settings/git/new">New source</ButtonLink>}
    rows={items.map((source) => (
      <SourceItem source={source} />
    ))}
    empty={
      <EmptyState title="No git sources">
        <p>Connect an account at GitHub, GitLab, Gitea or Forgejo with an access token.</p>
      </EmptyState>
    }
    more={{ href: '/settings/git', nextCursor }}
  />
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
