import type { Context } from 'hono'
import type { Config } from '../config.ts'
import type { Db } from '../db/index.ts'
import { findEnvironment, listEnvironments } from './store.ts'
import { ownKey, ownProject } from '../projects/own-project.ts'
import { ProjectFrame } from '../projects/project-frame.tsx'
import { findProject } from '../projects/store.ts'
import { factory } from '../web/factory.ts'
import { query } from '../web/query.ts'
import { answerOutput, outputOf, streamLog } from '../logs/answer-log.tsx'
import type { StreamDeps } from '../logs/answer-log.tsx'
import { logQuery, logStreamQuery } from '../logs/forms.ts'

/** What the containers of an environment wrote, over all its deployments. */
export const outputRoutes = (deps: StreamDeps & { db: Db; config: Config }) => {
  const { db } = deps
  const own = ownProject(deps)

  return factory
    .createApp()
    .get('/projects/:id/envs/:envId/output', own, query(logQuery), (c) => {
      const { project, environment } = find(c)
      return answerOutput(c, deps, {
        source: environment,
        asked: c.req.valid('query'),
        title: `${project.name}: logs of ${environment.name}`,
        frame: (view) => (
          <ProjectFrame
            project={project}
            tab="environments"
            environments={listEnvironments(db, project.id)}
          >
            {view}
          </ProjectFrame>
        ),
      })
    })
    .get('/projects/:id/envs/:envId/output/stream', own, query(logStreamQuery), (c) =>
      streamLog(c, deps, { log: outputOf(find(c).environment), asked: c.req.valid('query') }),
    )

  function find(c: Context) {
    const project = findProject(db, ownKey(c))
    const key = { id: c.req.param('envId')!, projectId: project.id }
    return { project, environment: findEnvironment(db, key) }
  }
}
