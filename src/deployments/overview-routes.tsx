import type { Config } from '../config.ts'
import type { Db } from '../db/index.ts'
import { urlOf } from '../environments/json.ts'
import { listEnvironments } from '../environments/store.ts'
import { projectJson } from '../projects/json.ts'
import { ownKey } from '../projects/own-project.ts'
import { ProjectOverview } from './overview.tsx'
import { placesOf } from '../projects/places.ts'
import { ProjectFrame } from '../projects/project-frame.tsx'
import { findProject } from '../projects/store.ts'
import { factory } from '../web/factory.ts'
import { show } from '../web/respond.tsx'
import { getCurrent, getLatest, listDeployments } from './store.ts'

/** The front of a project: its environments with what runs in them. */
export const overviewRoutes = ({ db, config }: { db: Db; config: Config }) =>
  factory.createApp().get('/projects/:id', (c) => {
    const project = findProject(db, ownKey(c))
    const environments = listEnvironments(db, project.id)
    const places = placesOf({ db, config }, project.ownerId)
    const rows = () =>
      environments.map((environment) => ({
        environment,
        current: getCurrent(db, environment.id),
        latest: getLatest(db, environment.id),
        url: urlOf(environment, places),
      }))
    const recent = () => listDeployments(db, { projectId: project.id, limit: 5 })
    return show(c, {
      title: project.name,
      page: () => (
        <ProjectFrame project={project} tab="overview" environments={environments}>
          <ProjectOverview
            project={project}
            environments={rows()}
            note={places.note}
            recent={recent()}
          />
        </ProjectFrame>
      ),
      json: () => projectJson(project),
    })
  })
