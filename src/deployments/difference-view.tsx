import type { Child } from 'hono/jsx'
import { deploymentPath } from '../projects/deployment-list.tsx'
import { CommitRef, Difference, Fact, PulledRef, UploadRef } from '../web/components.tsx'
import { Ago } from '../web/times.tsx'
import { counted } from '../web/units.ts'
import type { fieldChanges, versionsOf } from './compare.ts'
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

const Commit = ({ hash, message, author, pulled, upload }: Versions['commit']['to']) => {
  if (pulled) return <PulledRef {...pulled} />
  if (upload) return <UploadRef {...upload} />
  return hash ? (
    <CommitRef {...{ hash, message, author }} />
  ) : (
    <span class="muted">an unknown commit</span>
  )
}

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
        : <Difference from={textOf(from)} to={textOf(to)} />
      </>
    )}
  </>
)

const textOf = (value: unknown) => (value === null ? null : String(value))
