import type { Child } from 'hono/jsx'
import { PageHead } from '../web/components.tsx'
import type { Listing, Ref, Repository } from './providers/provider.ts'
import type { Source } from './store.ts'

/** Rows that a picker shows at once: more are found by typing. */
const mostRows = 100

/** Options of a select: a browser shows no more of them well either. */
const mostOptions = 2000

export const LookupPage = ({ title, children }: { title: string; children: Child }) => (
  <>
    <PageHead title={title} />
    {children}
  </>
)

/** Radio buttons `repository`: choosing one fills the `<select id="field-branch">` of the form. */
export const RepositoryChoices = ({
  source,
  items,
  truncated,
}: Listing<Repository> & { source: Source }) => (
  <>
    {items.length === 0 && <p class="muted">No repository of this name.</p>}
    <ul class="choices">
      {items.slice(0, mostRows).map((repository) => (
        <RepositoryChoice source={source} repository={repository} />
      ))}
    </ul>
    {items.length > mostRows && (
      <p class="muted">And {items.length - mostRows} more: type a part of the name.</p>
    )}
    {truncated && (
      <p class="muted" role="status">
        {cut}
      </p>
    )}
  </>
)

type RepositoryChoiceProps = { source: Source; repository: Repository }

const RepositoryChoice = ({
  source,
  repository: { fullName, private: isPrivate },
}: RepositoryChoiceProps) => (
  <li>
    <label class="choice">
      <input
        type="radio"
        name="repository"
        value={fullName}
        required
        hx-get={`/api/git/branches?${new URLSearchParams({ source_id: source.id, repository: fullName })}`}
        hx-trigger="change"
        hx-target="#field-branch"
      />
      <bdi>{fullName}</bdi>
      {isPrivate && <span class="tag">private</span>}
    </label>
  </li>
)

/** The empty value stands for whatever the repository's default is at the time of a deployment. */
export const BranchOptions = ({
  items,
  truncated,
  defaultBranch,
}: Listing<Ref> & { defaultBranch: string | null }) => (
  <>
    <option value="">{defaultBranch ? `the default (${defaultBranch})` : 'the default'}</option>
    <RefOptions items={items} truncated={truncated} />
  </>
)

export const RefOptions = ({ items, truncated }: Listing<Ref>) => (
  <>
    {items.slice(0, mostOptions).map(({ name }) => (
      <option value={name}>{name}</option>
    ))}
    {(truncated || items.length > mostOptions) && <option disabled>{cut}</option>}
  </>
)

const cut = 'The list is cut: it is longer than is read, or did not arrive in ten seconds.'
