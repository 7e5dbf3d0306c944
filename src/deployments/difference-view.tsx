import type { Child } from 'hono/jsx'
import { deploymentPath } from '../projects/deployment-list.tsx'
import { CommitRef, Fact, FromTo } from '../web/components.tsx'
import { Ago } from '../web/times.tsx'
import { counted } from '../web/units.ts'
import type { fieldChanges, VariableChange, versionsOf } from './compare.ts'
import { fieldLabels } from './settings.ts'
import type { Deployment } from './store.ts'

type Versions = ReturnType<typeof versionsOf>

export const Versions = ({
  isLive,
  commit,
  between,
  target,
  names,
  children,
}: Versions & {
  target: Deployment
  /** Names the other deployment, and the commits that only one of both has. */
  names: Record<'target' | 'back' | 'forward', string>
  /** The text about the image. */
  children: Child
}) => (
  <dl class="difference">
    {!isLive && commit.from && (
      <Fact name="Live now">
        <Commit {...commit.from} />
      </Fact>
    )}
    {!isLive && (
      <Fact name={names.target}>
        <Commit {...commit.to} />{' '}
        <span class="muted">
          <Ago at={target.createdAt} />
        </span>
      </Fact>
    )}
    <Fact name="Image">{children}</Fact>
    {between.count > 0 && (
      <Fact name={between.direction === 'back' ? names.back : names.forward}>
        <BetweenList {...between} projectId={target.projectId} />
      </Fact>
    )}
  </dl>
)

const Commit = ({ hash, message, author }: Record<'hash' | 'message' | 'author', string | null>) =>
  hash ? <CommitRef {...{ hash, message, author }} /> : <span class="muted">an unknown commit</span>

const BetweenList = ({ count, items, projectId }: Versions['between'] & { projectId: string }) => (
  <details open={count <= 3}>
    <summary>{counted(count, 'deployment')}</summary>
    <ul class="between">
      {items.map(({ deploymentId, number, ...commit }) => (
        <li>
          <a href={deploymentPath({ projectId, id: deploymentId })}>#{number}</a>{' '}
          <Commit {...commit} />
        </li>
      ))}
      {items.length < count && <li class="muted">and {count - items.length} before them</li>}
    </ul>
  </details>
)

/** In characters: a value can be a whole file. */
const mostShown = 120

/** Shows the values of variables that were never secret. */
export const VariableChanges = ({ changes }: { changes: VariableChange[] | null }) => {
  if (!changes)
    return (
      <p class="hint">
        The changes are unknown: an earlier version of Davit created the live deployment.
      </p>
    )
  if (changes.length === 0) return <p class="hint">Nothing changes.</p>
  return (
    <ul class="difference">
      {changes.map(({ key, change, secret, from, to }) => (
        <li>
          <code>{key}</code>{' '}
          {secret ? (
            <span class="muted">{change === 'changed' ? 'another secret value' : change}</span>
          ) : (
            <FromTo from={cut(from)} to={cut(to)} />
          )}
        </li>
      ))}
    </ul>
  )
}

const cut = (value: string | null) =>
  value && value.length > mostShown ? `${value.slice(0, mostShown).toWellFormed()}…` : value

type FieldChange = ReturnType<typeof fieldChanges>[number]

export const SettingChanges = ({ changes }: { changes: FieldChange[] }) => (
  <ul class="difference">
    {changes.map((change) => (
      <li>
        <SettingChange {...change} />
      </li>
    ))}
  </ul>
)

/** Lists and commands are only named; the environment's page shows them. */
const SettingChange = ({ name, from, to }: FieldChange) => (
  <>
    {fieldLabels[name]}
    {[from, to].every((value) => value === null || typeof value !== 'object') && (
      <>
        : <FromTo from={cut(textOf(from))} to={cut(textOf(to))} />
      </>
    )}
  </>
)

const textOf = (value: unknown) => (value === null ? null : String(value))
