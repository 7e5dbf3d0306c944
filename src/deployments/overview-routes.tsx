import type { Config } from '../config.ts'
import type { Db } from '../db/index.ts'
import { urlOf } from '../environments/json.ts'
import { projectJson } from '../projects/json.ts'
import { ownKey } from '../projects/own-project.ts'
import { ProjectOverview } from './overview.tsx'
import { placesOf } from '../projects/places.ts'
import { ProjectFrame } from '../projects/project-frame.tsx'
import { findProject } from '../projects/store.ts'
import { factory } from '../web/factory.ts'
import { show } from '../web/respond.tsx'
import { listEnvironmentStates } from './overview-store.ts'
import { listDeployments } from './store.ts'

/** The front of a project: its environments with what runs in them. */
export const overviewRoutes = ({ db, config }: { db: Db; config: Config }) =>
  factory.createApp().get('/projects/:id', (c) => {
    const project = findProject(db, ownKey(c))
    const page = () => {
      const places = placesOf({ db, config }, project.ownerId)
      const states = listEnvironmentStates(db, [project.id])
      const environments = states.map(({ environment }) => environment)
      const shown = states.map((row) => ({ ...row, url: urlOf(row.environment, places) }))
      const recent = listDeployments(db, { projectId: project.id, limit: 5 })
      return (
        <ProjectFrame project={project} tab="overview" environments={environments}>
          <ProjectOverview {...{ project, recent, note: places.note, environments: shown }} />
        </ProjectFrame>
      )
    }
    return show(c, { title: project.name, page, json: () => projectJson(project) })
  })
