import { EnvironmentFrame } from '../environments/environment-frame.tsx'
import { headOf, lookOf } from '../environments/head.ts'
import type { HeadDeps } from '../environments/head.ts'
import { environmentIn } from '../environments/own-environment.ts'
import { listRests } from '../environments/share.ts'
import type { Rests } from '../environments/share.ts'
import { listEnvironments } from '../environments/store.ts'
import type { Environment } from '../environments/store.ts'
import { freezesPath } from '../environments/freeze-note.tsx'
import { environmentPath } from '../environments/paths.ts'
import { DeploymentList } from '../projects/deployment-list.tsx'
import type { Masks } from '../logs/masks.ts'
import { ownKey } from '../projects/own-project.ts'
import { ProjectFrame } from '../projects/project-frame.tsx'
import { findProject } from '../projects/store.ts'
import type { Project } from '../projects/store.ts'
import { MoreLink } from '../web/components.tsx'
import { factory } from '../web/factory.ts'
import { ButtonLink } from '../web/form.tsx'
import { Live } from '../web/live.tsx'
import { pageOf, paged } from '../web/paging.ts'
import type { Page } from '../web/paging.ts'
import { show } from '../web/respond.tsx'
import { deploymentJson } from './json.ts'
import { NothingDeployed } from './overview.tsx'
import { deploymentActions } from './row-menu.tsx'
import { listDeployments } from './store.ts'
import { withMaskedWatch } from './watch/view.ts'

/** Lists deployments newest first. */
export const deploymentListRoutes = (deps: HeadDeps & { masks: Masks }) => {
  const { db } = deps

  return factory
    .createApp()
    .get('/projects/:id/deployments', paged(), async (c) => {
      const project = findProject(db, ownKey(c))
      const environments = listEnvironments(db, project.id)
      const list = await listOf({ project, page: c.req.valid('query') })
      return show(c, {
        title: `${project.name}: deployments`,
        page: () => (
          <ProjectFrame project={project} tab="deployments" environments={environments}>
            <List {...{ ...list, project, environments }} />
            <MoreLink href={`/projects/${project.id}/deployments`} nextCursor={list.nextCursor} />
          </ProjectFrame>
        ),
        json: () => jsonOf(list),
        live: {},
      })
    })
    .get('/projects/:id/envs/:envId/deployments', paged(), async (c) => {
      const { project, environment } = environmentIn(deps, c)
      const list = await listOf({ project, environment, page: c.req.valid('query') })
      const head = headOf(deps, { project, environment })
      const path = `${environmentPath(environment)}/deployments`
      return show(c, {
        title: `${project.name}: deployments of ${environment.name}`,
        state: lookOf(head),
        page: () => (
          <EnvironmentFrame head={head} tab="deployments">
            <div class="section-head">
              <p class="muted">A freeze keeps an environment as it is for a time.</p>
              <div class="actions">
                <ButtonLink small variant="outline" href={freezesPath(environment.id)}>
                  Freezes
                </ButtonLink>
              </div>
            </div>
            <List {...{ ...list, project, environments: [environment] }} />
            <MoreLink href={path} nextCursor={list.nextCursor} />
          </EnvironmentFrame>
        ),
        json: () => jsonOf(list),
        live: {},
      })
    })

  async function listOf({ project, environment, page }: ListOptions) {
    const of = { projectId: project.id, environmentId: environment?.id }
    const rows = listDeployments(db, { ...of, ...page }).map(async ({ deployment, ...row }) => ({
      ...{ ...row, id: deployment.id },
      deployment: await withMaskedWatch(deps, deployment),
    }))
    const { items, nextCursor } = pageOf(await Promise.all(rows), page)
    return { items, nextCursor, rests: listRests(db, items) }
  }
}

type ListOptions = { project: Project; environment?: Environment; page: Page }
type Rows = ReturnType<typeof listDeployments>

const List = ({
  items,
  rests,
  project,
  environments,
}: {
  items: Rows
  rests: Rests
  project: Project
  environments: Environment[]
}) => (
  <Live id="deployments">
    {items.length === 0 ? (
      <NothingDeployed project={project} environments={environments} />
    ) : (
      <DeploymentList items={items} rests={rests} actions={deploymentActions(project)} />
    )}
  </Live>
)

const jsonOf = ({ items, nextCursor }: { items: Rows; nextCursor: string | null }) => ({
  items: items.map(({ deployment }) => deploymentJson(deployment)),
  nextCursor,
})
