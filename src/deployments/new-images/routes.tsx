import { auditor } from '../../audit/record.ts'
import { AppError } from '../../platform/errors.ts'
import { aboutProject, ownKey } from '../../projects/own-project.ts'
import { ProjectFrame } from '../../projects/project-frame.tsx'
import { findLiveProject, findProject, listTargets } from '../../projects/store.ts'
import type { Project } from '../../projects/store.ts'
import { factory } from '../../web/factory.ts'
import { show, showSaved } from '../../web/respond.tsx'
import { userOf } from '../../web/user-of.ts'
import { deploymentJson } from '../json.ts'
import type { CheckDeps } from './check-image.ts'
import type { ImageWatch } from './image-watch.ts'
import { ImagePanel, imageStateOf } from './panel.tsx'

/** What the registry has for the image of a project. */
export const newImageRoutes = (deps: CheckDeps & { images: ImageWatch }) => {
  const { db, images } = deps
  const audit = auditor(db)

  return factory
    .createApp()
    .get('/projects/:id/image', (c) => show(c, panel(findProject(db, ownKey(c)))))
    .post('/projects/:id/image/check', async (c) => {
      const project = withImage(findLiveProject(db, ownKey(c)))
      const trigger = c.var.token ? 'api' : 'manual'
      const { deployments, reason } = await images.check({
        project,
        by: { trigger, triggeredBy: userOf(c).email },
        signal: c.req.raw.signal,
      })
      audit(c, 'image.checked', aboutProject(project))
      const to = `/projects/${project.id}/deliveries`
      const json = () => ({
        ...imageStateOf(deps, project),
        deployments: deployments.map(deploymentJson),
      })
      return showSaved(c, { to, said: reason, ...panel(project), json })
    })

  function panel(project: Project) {
    const state = imageStateOf(deps, project)
    return {
      title: `${project.name}: new images`,
      page: () => (
        <ProjectFrame project={project} tab="webhooks" environments={listTargets(db, project.id)}>
          <ImagePanel {...{ project, state }} />
        </ProjectFrame>
      ),
      partial: () => <ImagePanel {...{ project, state }} />,
      json: () => state,
    }
  }
}

function withImage(project: Project) {
  if (project.image !== null) return project
  throw new AppError('conflict', 'This project builds from a repository, and deploys no image.')
}
