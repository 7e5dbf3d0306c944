import { Modal, ModalActions } from '../web/dialog.tsx'
import { FormError, SelectField, TextField } from '../web/fields-view.tsx'
import { PostForm } from '../web/form.tsx'
import type { Draft } from '../web/input.ts'
import type { TokenOwner } from './providers/provider.ts'
import { providers } from './providers/registry.ts'
import type { Source } from './store.ts'

export const NewSourceModal = ({ draft }: { draft: Draft }) => (
  <Modal title="New git source">
    <PostForm
      class="form"
      action="/settings/git"
      live
      hx-target="#modal"
      hx-disable="find button[type=submit]"
    >
      <FormError draft={draft} />
      <SelectField
        name="provider"
        label="Provider"
        draft={draft}
        value="github"
        options={[
          { value: 'github', label: 'GitHub' },
          { value: 'gitlab', label: 'GitLab' },
          { value: 'gitea', label: 'Gitea or Forgejo' },
        ]}
      />
      <TextField
        name="name"
        label="Name"
        draft={draft}
        placeholder="work"
        maxlength={60}
        autocomplete="off"
        required
        autofocus
      />
      <TextField
        name="base_url"
        label="Address"
        draft={draft}
        type="url"
        placeholder="https://git.example.com"
        hint="Empty for github.com and gitlab.com."
        maxlength={500}
        code
      />
      <TextField
        name="access_token"
        label="Access token"
        draft={withoutToken(draft)}
        type="password"
        autocomplete="off"
        hint={<NeededRights />}
        maxlength={1000}
        required
        code
      />
      <ModalActions>
        <button type="submit" class="btn">
          Check and add
        </button>
      </ModalActions>
    </PostForm>
  </Modal>
)

const NeededRights = () => (
  <>
    GitHub: <code>repo</code>, or of a fine-grained one Contents, Webhooks and Commit statuses.
    GitLab: <code>api</code>. Gitea: <code>read:user</code> and <code>write:repository</code>.
  </>
)

/** Whose token it is and what it may, as the provider said just now. */
export const SourceModal = ({ source, owner }: { source: Source; owner: TokenOwner }) => (
  <Modal title={<bdi>{source.name}</bdi>}>
    <div class="form">
      {owner.missing.length > 0 ? (
        <div class="alert" data-variant="destructive" role="alert">
          <strong>The token lacks: {owner.missing.join(', ')}.</strong>
        </div>
      ) : (
        <p role="status">
          {providers[source.provider].title} accepts the token. It belongs to{' '}
          <strong>
            <bdi>{owner.login ?? source.login}</bdi>
          </strong>
          .
        </p>
      )}
      <p class="muted">
        {owner.rights ? (
          <>
            Its rights:{' '}
            {owner.rights.map((right) => (
              <span class="tag">{right}</span>
            ))}
          </>
        ) : (
          'It can list and clone. Whether it may also change webhooks shows when it is asked to.'
        )}
      </p>
      <div class="form-actions">
        <button type="button" class="btn" data-close>
          Done
        </button>
      </div>
    </div>
  </Modal>
)

/** Asks again, because projects use the source. */
export const RemoveSourceModal = ({
  source,
  projects,
}: {
  source: Source
  projects: { id: string; name: string }[]
}) => (
  <Modal title="Projects use this source">
    <PostForm
      class="form"
      action={`/settings/git/${source.id}?confirm=1`}
      method="DELETE"
      live
      hx-target="#modal"
    >
      <p>
        Without <bdi>{source.name}</bdi> these keep their repository’s address, but can no longer
        read it where it is private:
      </p>
      <ul>
        {projects.map(({ id, name }) => (
          <li>
            <a href={`/projects/${id}`}>
              <bdi>{name}</bdi>
            </a>
          </li>
        ))}
      </ul>
      <ModalActions>
        <button type="submit" class="btn" data-variant="destructive">
          Remove it all the same
        </button>
      </ModalActions>
    </PostForm>
  </Modal>
)

/** What was typed comes back into the form, but a token does not. */
function withoutToken({ values, ...draft }: Draft): Draft {
  const { access_token: _, ...rest } = values
  return { ...draft, values: rest }
}
