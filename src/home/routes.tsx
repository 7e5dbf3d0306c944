import { hasUsers } from '../accounts/store.ts'
import type { Config } from '../config.ts'
import type { Db } from '../db/index.ts'
import { deploymentJson } from '../deployments/json.ts'
import { listOverview, listRecent } from '../deployments/overview-store.ts'
import type { Docker } from '../docker/index.ts'
import { urlOf } from '../environments/json.ts'
import { Failure } from '../platform/errors.ts'
import { projectJson } from '../projects/json.ts'
import { placesOf } from '../projects/places.ts'
import { factory } from '../web/factory.ts'
import { show } from '../web/respond.tsx'
import { userOf } from '../web/user-of.ts'
import { within } from '../web/within.ts'
import { DashboardPage, LandingPage } from './views.tsx'

/** Projects and deployments that the dashboard shows; the rest is a page further. */
const shownProjects = 50
const shownDeployments = 10

/** Milliseconds that the page waits for the engine before it says that it does not answer. */
const patience = 1000

/** The front door: an empty installation leads to its first account. */
export const landingRoutes = ({ db }: { db: Db }) =>
  factory.createApp().get('/', (c) => {
    if (!hasUsers(db)) return c.redirect('/auth/register', 303)
    if (c.var.user) return c.redirect('/dashboard', 303)
    return show(c, { title: 'Davit', page: () => <LandingPage />, json: () => ({ name: 'davit' }) })
  })

export const dashboardRoutes = ({
  db,
  docker,
  config,
}: {
  db: Db
  docker: Pick<Docker, 'info'>
  config: Config
}) =>
  factory.createApp().get('/dashboard', async (c) => {
    const engine = await stateOfEngine(docker)
    const ownerId = userOf(c).id
    const places = placesOf({ db, config }, ownerId)
    const projects = listOverview(db, { ownerId, limit: shownProjects }).map(
      ({ project, environments }) => ({
        project,
        environments: environments.map((row) => ({ ...row, url: urlOf(row.environment, places) })),
      }),
    )
    const recent = listRecent(db, { ownerId, limit: shownDeployments })
    return show(c, {
      title: 'Dashboard',
      page: () => <DashboardPage projects={projects} recent={recent} engine={engine} />,
      json: () => ({
        projects: projects.map(({ project }) => projectJson(project)),
        deployments: recent.map(({ deployment }) => deploymentJson(deployment)),
        engine,
      }),
    })
  })

async function stateOfEngine(docker: Pick<Docker, 'info'>) {
  try {
    const info = await within(patience, docker.info())
    if (info) return { ok: true, detail: `Docker Engine ${info.version}` }
    return { ok: false, detail: 'The Docker Engine takes long to answer. Nothing can be deployed.' }
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    return { ok: false, detail: `${error.message} ${error.hint}` }
  }
}
