import type { Context } from 'hono'
import type { JSX } from 'hono/jsx/jsx-runtime'
import { AppError, Failure } from '../platform/errors.ts'
import { PageHead } from '../web/components.tsx'
import type { Crumb } from '../web/components.tsx'
import type { Part } from '../detection/apps.ts'
import { Icon } from '../web/icons.tsx'
import { show } from '../web/respond.tsx'
import { counted } from '../web/units.ts'
import type { Looked } from './look-up.ts'
import { dockerfileNames } from './missing-path.ts'
import type { Listing, Ref, Repository } from './providers/provider.ts'
import type { Source } from './store.ts'

/** More rows are found by typing. */
const maxRows = 100

/** Browsers become slow with longer lists. */
const maxOptions = 2000

type Lookup = {
  view: () => JSX.Element
  json: () => unknown
  /** If it needs more to stand alone. */
  onPage?: () => JSX.Element
  /** To the page of the form. */
  crumbs?: Crumb[]
}

/** Responds with what a form loads while it is filled in; opened by its own address, it is a page. */
export const showLookup = (
  c: Context,
  title: string,
  { view, json, onPage = view, crumbs = [] }: Lookup,
) =>
  show(c, {
    title,
    page: () => (
      <>
        <PageHead title={title} crumbs={crumbs} />
        {onPage()}
      </>
    ),
    partial: view,
    json,
  })

/** Choosing a radio button `repository` fills the `<select id="field-branch">` of the form. */
export const RepositoryChoices = ({
  source,
  items,
  truncated,
}: Listing<Repository> & { source: Source }) => (
  <>
    {items.length === 0 && <p class="muted">No repository of this name.</p>}
    <ul class="choices">
      {items.slice(0, maxRows).map((repository) => (
        <RepositoryChoice source={source} repository={repository} />
      ))}
    </ul>
    {items.length > maxRows && (
      <p class="muted">And {items.length - maxRows} more: type a part of the name.</p>
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

/** The empty value stands for the default branch at the time of a deployment. */
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
    {items.slice(0, maxOptions).map(({ name }) => (
      <option value={name}>{name}</option>
    ))}
    {(truncated || items.length > maxOptions) && <option disabled>{cut}</option>}
  </>
)

const cut = 'The list is incomplete: it is too long, or didn’t arrive within ten seconds.'

/** The id of the datalist for a form's branch field. */
export const branchList = 'repository-branches'

export const RepositoryFound = ({
  defaultBranch,
  branches,
  dockerfiles,
  composeFiles,
  detected,
  workspaces,
}: Looked) => (
  <>
    <p class="found">
      <Icon name="check" />{' '}
      {branches.length === 0 ? (
        'Found, but it has no branch yet.'
      ) : (
        <>
          Found: {branches.length === 1 ? 'one branch' : `${branches.length} branches`}
          {defaultBranch && (
            <>
              , <code>{defaultBranch}</code> by default
            </>
          )}
          .
        </>
      )}
    </p>
    {dockerfiles && branches.length > 0 && (
      <DockerfileNote paths={dockerfiles} detected={detected} isHolding={workspaces.some(isApp)} />
    )}
    <AppChoices apps={workspaces.filter(isApp)} composeFiles={composeFiles} />
    <datalist id={branchList}>
      {branches.map((name) => (
        <option value={name} />
      ))}
    </datalist>
  </>
)

const DockerfileNote = ({
  paths: [first, ...others],
  detected,
  isHolding,
}: {
  paths: string[]
  /** Whether there are apps below the top. */
  isHolding: boolean
  detected: Looked['detected']
}) => {
  if (detected)
    return (
      <p>
        No Dockerfile, so Davit writes one for <strong>{detected.kind}</strong>:{' '}
        <bdi>{detected.reasons.join('; ')}</bdi>.
      </p>
    )
  if (isHolding) return <></>
  if (first === undefined)
    return (
      <p>It has no Dockerfile, and nothing that says how it is built. Add one to the repository.</p>
    )
  return (
    <p>
      <code>{first}</code>
      {others.map((path) => (
        <>
          , <code>{path}</code>
        </>
      ))}{' '}
      {dockerfileNames.includes(first)
        ? 'is there.'
        : 'is not in the root: set its path in the project’s settings before you deploy.'}
    </p>
  )
}

const isApp = ({ kind }: Part) => kind !== null

/** Choosing one fills in where it is; see assets/forms.js. */
const AppChoices = ({ apps, composeFiles }: { apps: Part[]; composeFiles: string[] }) =>
  apps.length + composeFiles.length === 0 ? (
    <></>
  ) : (
    <fieldset class="field">
      <legend>
        {apps.length === 0
          ? 'Choose it to run its services together:'
          : `This repository holds ${counted(apps.length, 'app')}. Choose what to deploy:`}
      </legend>
      <ul class="choices">
        {apps.map(({ directory, kind, watchPaths }) => (
          <AppChoice
            name={directory}
            kind={kind}
            fills={{ context_dir: directory, watch_paths: watchPaths.join('\n'), compose_file: '' }}
          />
        ))}
        {composeFiles.map((path) => (
          <AppChoice
            name={path}
            kind="Compose file"
            fills={{ context_dir: '', watch_paths: '', compose_file: path }}
          />
        ))}
      </ul>
    </fieldset>
  )

const AppChoice = ({
  name,
  kind,
  fills,
}: {
  name: string
  kind: string | null
  fills: Record<string, string>
}) => (
  <li>
    <label class="choice">
      <input type="radio" name="app" form="" value={name} data-fills={JSON.stringify(fills)} />
      <code>{name}</code>
      <span class="tag">{kind}</span>
    </label>
  </li>
)

export const OpenedByKey = () => (
  <p>
    An ssh address is opened with the project’s deploy key, which Davit creates with the project.
    Add it to the repository before you deploy.
  </p>
)

/** Explains the failure, and what to do for a private repository. */
export const LookupRefused = ({ url, error }: { url: string; error: Error }) =>
  url === '' ? (
    <></>
  ) : (
    <>
      <p class="refused">
        <Icon name="triangle-alert" /> {error.message}
        {error instanceof Failure && ` ${error.hint}`}
      </p>
      {error instanceof AppError && error.code === 'not_found' && (
        <p>
          If it’s private, choose it <a href="/projects/new?from=source">from a git source</a>, or
          use its ssh address: Davit then creates a deploy key for you to add to it.
        </p>
      )}
    </>
  )
