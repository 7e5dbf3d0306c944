import { EmptyState, PageHead } from '../web/components.tsx'
import { ContainerRow } from './container-row.tsx'
import type { Group } from './groups.ts'

/** Everything that runs, and what ran; the list follows the engine by itself. */
export const ContainersPage = ({ groups, isAdmin }: { groups: Group[]; isAdmin: boolean }) => (
  <>
    <PageHead title="Containers" />
    <ContainerList groups={groups} isAdmin={isAdmin} />
    <div hidden hx-sse:connect="/containers/events" hx-trigger="load" hx-swap="none" />
  </>
)

export const ContainerList = ({ groups, isAdmin }: { groups: Group[]; isAdmin: boolean }) => (
  <div id={listId} class="container-groups">
    {groups.length === 0 && <NothingRuns isAdmin={isAdmin} />}
    {groups.map((group) => (
      <section id={group.key} aria-labelledby={`${group.key}-heading`}>
        <h2 id={`${group.key}-heading`}>
          {group.href ? (
            <a href={group.href}>
              <bdi>{group.title}</bdi>
            </a>
          ) : (
            <bdi>{group.title}</bdi>
          )}
          {group.note && <small class="muted">{group.note}</small>}
        </h2>
        <ul class="rows">
          {group.rows.map((row) => (
            <ContainerRow row={row} />
          ))}
        </ul>
      </section>
    ))}
  </div>
)

export const listId = 'containers'

const NothingRuns = ({ isAdmin }: { isAdmin: boolean }) => (
  <EmptyState title="No containers">
    <p>
      {isAdmin
        ? 'There is none on this engine. Deploy a project, and its container appears here.'
        : 'Deploy a project, and its container appears here with its state and its log.'}
    </p>
    <a class="btn" href="/projects">
      To the projects
    </a>
  </EmptyState>
)
