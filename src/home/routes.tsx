import type { Config } from '../config.ts'
import type { Db } from '../db/index.ts'
import type { Docker } from '../docker/index.ts'
import { placesOf } from '../projects/places.ts'
import { userOf } from '../web/user-of.ts'
import { hasUsers } from '../accounts/store.ts'
import { changesOf } from '../db/changes.ts'
import { listOverview, listRecent } from '../deployments/overview-store.ts'
import { deploymentJson } from '../deployments/json.ts'
import { urlOf } from '../environments/json.ts'
import { projectJson } from '../projects/json.ts'
import { factory } from '../web/factory.ts'
import { KeptAnswers } from '../web/kept-answers.ts'
import { show } from '../web/respond.tsx'
import { engineLooks } from './engine-look.ts'
import { DashboardPage, LandingPage } from './views.tsx'

/** Projects and deployments that the dashboard shows; the rest is a page further. */
const shownProjects = 50
const shownDeployments = 10

/** Milliseconds that the page may be late in saying how long ago something was. */
const agoPrecision = 10_000

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
  docker: Docker
  config: Config
}) => {
  const lookAtEngine = engineLooks(docker)
  const kept = new KeptAnswers()
  return factory.createApp().get('/dashboard', async (c) => {
    const engine = await lookAtEngine()
    const now = Math.floor(Date.now() / agoPrecision)
    return kept.answer(c, [engine.detail, changesOf(db), now], () => {
      const ownerId = userOf(c).id
      const places = placesOf({ db, config }, ownerId)
      const projects = listOverview(db, { ownerId, limit: shownProjects }).map(
        ({ project, environments }) => ({
          project,
          environments: environments.map((row) => ({
            ...row,
            url: urlOf(row.environment, places),
          })),
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
  })
}
