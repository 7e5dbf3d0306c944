import { EmptyState } from '../web/components.tsx'
import { Logo } from '../web/logo.tsx'
import { DeleteButton, DialogButton } from '../web/row-actions.tsx'
import { SettingsList } from '../web/settings-frame.tsx'
import { Ago } from '../web/times.tsx'
import { providers } from './providers/registry.ts'
import type { Source } from './store.ts'
import { ButtonLink } from '../web/form.tsx'

type Sources = { items: Source[]; nextCursor: string | null; oob?: boolean }

/** `oob` replaces the list on the page, beside the main response. */
export const SourceList = ({ items, nextCursor, oob = false }: Sources) => (
  <SettingsList
    id="git-sources"
    aria-label="Git sources"
    {...(oob && { 'hx-swap-oob': 'true' })}
    about="With a source you can pick repositories and branches from lists, including private ones."
    action={items.length > 0 && <NewSource />}
    rows={items.map((source) => (
      <SourceItem source={source} />
    ))}
    empty={
      <EmptyState title="No git sources">
        <p>Connect an account at GitHub, GitLab, Gitea or Forgejo with an access token.</p>
        <NewSource />
      </EmptyState>
    }
    more={{ href: '/settings/git', nextCursor }}
  />
)

const NewSource = () => (
  <ButtonLink icon="plus" opens="/settings/git/new">
    New source
  </ButtonLink>
)

const SourceItem = ({ source }: { source: Source }) => (
  <li>
    <Logo of={source.provider} name={source.name} />
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
