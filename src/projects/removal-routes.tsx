import { auditor } from '../audit/record.ts'
import { factory } from '../web/factory.ts'
import { bodyOrQuery } from '../web/query.ts'
import { show } from '../web/respond.tsx'
import { DeleteProjectModal } from './delete-project.tsx'
import { removalForm } from './forms.ts'
import { refuseWithoutEngine, volumesOf } from '../runtime/remove.ts'
import { ownKey } from './own-project.ts'
import { answerRemoval } from './removal-report.tsx'
import { removeProject } from './remove.ts'
import type { RemovalDeps } from './remove.ts'
import { findProject, updateProject } from './store.ts'

/** The end of a project: it is asked about, then goes with all that was made for it. */
export const removalRoutes = (deps: RemovalDeps) => {
  const audit = auditor(deps.db)

  return factory
    .createApp()
    .get('/projects/:id/delete', async (c) => {
      const project = findProject(deps.db, ownKey(c))
      const volumes = await volumesOf(deps, { projectId: project.id })
      return show(c, {
        title: `Delete ${project.name}`,
        page: () => <DeleteProjectModal project={project} volumes={volumes} />,
        json: () => ({ volumes }),
      })
    })
    .delete('/projects/:id', async (c) => {
      const project = findProject(deps.db, ownKey(c))
      const asked = await bodyOrQuery(c, removalForm)
      const volumes = asked.volumes ?? project.deletingVolumes
      await refuseWithoutEngine(deps)
      deps.db.transaction(() => {
        const deletingAt = project.deletingAt ?? new Date()
        updateProject(deps.db, project.id, { deletingAt, deletingVolumes: volumes })
        audit(c, 'project.deleted', {
          object: { kind: 'project', id: project.id, name: project.name },
        })
      })
      const work = removeProject(deps, { project, volumes })
      return answerRemoval(c, deps, { of: 'project', id: project.id, name: project.name, work })
    })
}
