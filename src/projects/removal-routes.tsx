import { auditor } from '../audit/record.ts'
import { refuseWithoutEngine, volumesOf } from '../runtime/remove.ts'
import { factory } from '../web/factory.ts'
import { bodyOrQuery } from '../web/query.ts'
import { show } from '../web/respond.tsx'
import { removalForm } from './forms.ts'
import { aboutProject, ownKey, ownProject } from './own-project.ts'
import { answerRemoval, RemovalModal } from './removal.tsx'
import { removeProject } from './remove.ts'
import type { RemovalDeps } from './remove.ts'
import { findProject, updateProject } from './store.ts'

/** The end of a project: it is asked about, then goes with all that was made for it. */
export const removalRoutes = (deps: RemovalDeps) => {
  const audit = auditor(deps.db)

  return factory
    .createApp()
    .get('/projects/:id/delete', async (c) => {
      const { id, name } = findProject(deps.db, ownKey(c))
      const volumes = await volumesOf(deps, { projectId: id })
      return show(c, {
        title: `Delete ${name}`,
        page: () => (
          <RemovalModal of="project" id={id} name={name} volumes={volumes} typed>
            <p>
              Its containers, their images, its network, its mirror of the repository, its
              deployments and their logs are deleted. This can’t be undone.
            </p>
          </RemovalModal>
        ),
        json: () => ({ volumes }),
      })
    })
    .delete('/projects/:id', ownProject(deps), bodyOrQuery(removalForm), async (c) => {
      const project = findProject(deps.db, ownKey(c))
      const { id, name } = project
      const volumes = c.var.input.volumes ?? project.deletingVolumes
      await refuseWithoutEngine(deps)
      deps.db.transaction(() => {
        const deletingAt = project.deletingAt ?? new Date()
        updateProject(deps.db, id, { deletingAt, deletingVolumes: volumes })
        audit(c, 'project.deleted', aboutProject(project))
      })
      const work = removeProject(deps, { project, volumes })
      return answerRemoval(c, work, { of: 'project', id, name, patience: deps.config.patience })
    })
}
