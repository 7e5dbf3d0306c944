import { branchList } from '../git/lookup-views.tsx'
import type { Source } from '../git/store.ts'
import { SelectField, TextField } from '../web/fields-view.tsx'
import type { Draft } from '../web/draft.ts'
import type { Project } from './store.ts'
import { Button } from '../web/form.tsx'

const froms = { source: 'From a git source', address: 'By address', image: 'An image' }

export type From = keyof typeof froms

type Props = {
  from: From
  draft: Draft
  sources: Source[]
  project?: Pick<Project, 'repositoryUrl' | 'sourceId' | 'repository' | 'branch' | 'image'>
}

/** Decides by the input, then by the stored value, then by whether there are sources to choose from. */
export function chooseFrom(
  asked: string | undefined,
  { draft, sources, project }: Omit<Props, 'from'>,
): From {
  if (draft.values.source_id || draft.values.repository) return 'source'
  if ('repository_url' in draft.values) return 'address'
  if ('image' in draft.values) return 'image'
  if (asked === 'source' || asked === 'address' || asked === 'image') return asked
  if (project?.image) return 'image'
  if (project) return project.sourceId ? 'source' : 'address'
  return sources.length > 0 ? 'source' : 'address'
}

/** The options as links, which work without scripts; `path` is the page of the form. */
export const FromLinks = ({ path, from }: { path: string; from: From }) => (
  <nav class="tabs-line" aria-label="Where the code comes from">
    {Object.entries(froms).map(([name, title]) => (
      <a href={`${path}?from=${name}`} aria-current={name === from ? 'page' : undefined}>
        {title}
      </a>
    ))}
  </nav>
)

export const RepositoryFields = (props: Props) => {
  if (props.from === 'image') return <ImageField {...props} />
  if (props.from === 'address') return <AddressFields {...props} />
  return props.sources.length > 0 ? <SourceFields {...props} /> : <NoSource />
}

export const NoSource = () => (
  <p class="note">
    You have no git source yet. Add one under <a href="/settings/git">Settings, Git</a> to pick
    repositories from a list, including private ones.
  </p>
)

const ImageField = ({ project }: Props) => (
  <TextField
    name="image"
    label="Image"
    value={project?.image}
    placeholder="registry.example.com/team/app:1"
    hint={
      <>
        With a tag, a digest, or a pattern such as <code>1.*</code> for the newest version of these.
        One that needs a login uses yours under{' '}
        <a href="/settings/registries">Settings, Registries</a>.
      </>
    }
    required
    autofocus={!project}
    code
  />
)

const AddressFields = ({ draft, project }: Props) => (
  <>
    <TextField
      name="repository_url"
      label="Repository"
      value={project?.repositoryUrl || undefined}
      placeholder="github.com/owner/repository"
      hint="https://, http://, ssh:// or git@, without a password in it."
      required
      autofocus={!project}
      code
    />
    <div
      class="repository-look waits"
      hx-get="/api/git/look"
      hx-include="#field-repository_url"
      hx-trigger={`${draft.values.repository_url && !draft.errors.repository_url ? 'load, ' : ''}input changed delay:500ms from:#field-repository_url`}
      hx-sync="this:replace"
      aria-live="polite"
    />
    <TextField
      name="branch"
      label="Branch"
      value={project?.branch}
      placeholder="the repository’s default"
      list={branchList}
      hint={project && branchHint}
      code
    />
  </>
)

const SourceFields = ({ draft, sources, project }: Props) => {
  const chosen = draft.values.repository ?? project?.repository
  const branch = draft.values.branch ?? project?.branch
  return (
    <>
      <SelectField
        name="source_id"
        label="Git source"
        value={project?.sourceId}
        options={sources.map(({ id, name, login }) => ({
          value: id,
          label: login ? `${name} (${login})` : name,
        }))}
      />
      <RepositoryPicker draft={draft} chosen={chosen || null} />
      {!project && (
        <div
          class="repository-look waits"
          hx-get="/api/git/look"
          hx-include="#field-source_id, [name=repository]:checked"
          hx-trigger="change from:#repositories"
          hx-sync="this:replace"
          aria-live="polite"
        />
      )}
      <SelectField
        name="branch"
        label="Branch"
        value={project?.branch}
        hint={project && branchHint}
        options={[
          { value: '', label: 'the default' },
          ...(branch ? [{ value: branch, label: branch }] : []),
        ]}
      />
    </>
  )
}

/** Reloads when the source or the search changes. */
const RepositoryPicker = ({ draft, chosen }: { draft: Draft; chosen: string | null }) => (
  <div
    class="field repository-picker"
    role="group"
    aria-labelledby="repository-label"
    data-invalid={'repository' in draft.errors || undefined}
  >
    <label id="repository-label" for="field-search">
      Repository
    </label>
    {/* outside of any form, so that Enter searches and sends nothing */}
    <input
      id="field-search"
      type="search"
      name="search"
      form=""
      placeholder="Search"
      aria-label="Search the repositories"
      autocomplete="off"
      maxlength={200}
    />
    <div
      id="repositories"
      class="waits"
      hx-get="/api/git/repos"
      hx-include="#field-source_id, #field-search"
      hx-trigger={`${chosen ? '' : 'load, '}change from:#field-source_id, input changed delay:300ms from:#field-search`}
      aria-live="polite"
    >
      {chosen ? (
        <Chosen repository={chosen} />
      ) : (
        <p class="muted">The repositories of the source appear here.</p>
      )}
    </div>
    <noscript>
      <input name="repository" value={chosen ?? ''} placeholder="owner/name" />
    </noscript>
    {draft.errors.repository && (
      <p id="field-repository-error" class="field-error">
        Repository {draft.errors.repository}
      </p>
    )}
  </div>
)

const Chosen = ({ repository }: { repository: string }) => (
  <ul class="choices">
    <li>
      <label class="choice">
        <input type="radio" name="repository" value={repository} checked required />
        <bdi>{repository}</bdi>
      </label>
      <Button
        type="button"
        variant="ghost"
        small
        hx-get="/api/git/repos"
        hx-include="#field-source_id"
        hx-target="#repositories"
      >
        Choose another
      </Button>
    </li>
  </ul>
)

const branchHint = 'Environments use it unless they set their own.'
