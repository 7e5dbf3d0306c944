import type { projects } from '../db/schema.ts'
import { DeploymentList } from '../projects/deployment-list.tsx'
import type { DeploymentItem } from '../projects/deployment-list.tsx'
import { EmptyState, MoreLink } from '../web/components.tsx'

/** What stands in a project's second tab: everything that was ever deployed. */
export const DeploymentsTab = ({
  project,
  items,
  nextCursor,
}: {
  project: typeof projects.$inferSelect
  items: DeploymentItem[]
  nextCursor: string | null
}) => (
  <>
    {items.length === 0 ? (
      <EmptyState title="Nothing deployed yet">
        <p>Press Deploy, and watch the repository become a running app.</p>
      </EmptyState>
    ) : (
      <DeploymentList items={items} />
    )}
    <MoreLink href={`/projects/${project.id}/deployments`} nextCursor={nextCursor} />
  </>
)
