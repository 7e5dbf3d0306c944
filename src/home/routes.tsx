import { whyClosed } from '../accounts/admission.ts'
import type { AdmissionDeps } from '../accounts/admission.ts'
import { hasUsers } from '../accounts/store.ts'
import type { UrlDeps } from '../addresses/urls.ts'
import type { LiveDeps } from '../apps/live.ts'
import type { Config } from '../config.ts'
import { deploymentJson } from '../deployments/json.ts'
import { listRecent } from '../deployments/overview-store.ts'
import { withMaskedWatch } from '../deployments/watch/view.ts'
import type { Docker } from '../docker/index.ts'
import type { ShownDeps } from '../domains/json.ts'
import { listRests } from '../environments/share.ts'
import type { Masks } from '../logs/masks.ts'
import type { ReleaseWatch } from '../releases/watch.ts'
import { DeploymentList } from '../projects/deployment-list.tsx'
import { projectJson } from '../projects/json.ts'
import { listProjects } from '../projects/store.ts'
import { NewProjectLink } from '../projects/views.tsx'
import { PageHead, Trouble } from '../web/components.tsx'
import { factory } from '../web/factory.ts'
import { activitySorts, listed, ListingForm, listingOf, sortedBy } from '../web/listing.tsx'
import { Live } from '../web/live.tsx'
import { show } from '../web/respond.tsx'
import { userOf } from '../web/user-of.ts'
import { FirstSteps } from './first-steps.tsx'
import { FleetStrip, readFleet } from './fleet-strip.tsx'
import { readAttention } from './attention.ts'
import { activityOf, readInventory, textOf } from './inventory.ts'
import { AttentionList, LandingPage, Running } from './views.tsx'
import { rowsOf } from './rows.ts'
import { engineState } from './server.ts'
import type { ServerMeter } from './server.ts'
import { ServerStrip } from './server-strip.tsx'

export const landingRoutes = (deps: AdmissionDeps) =>
  factory.createApp().get('/', (c) => {
    if (!hasUsers(deps.db)) return c.redirect('/auth/register', 303)
    if (c.var.user) return c.redirect('/dashboard', 303)
    return show(c, {
      title: 'Davit',
      page: () => <LandingPage mayRegister={whyClosed(deps, null) === null} />,
      json: () => ({ name: 'davit' }),
    })
  })

/** The newest projects and deployments in the JSON, at most. */
const maxListed = { projects: 50, deployments: 10 }

/** Problems shown on the dashboard, and on the page that shows all. */
const maxShown = 10
const maxWhole = 500

/** Seconds between two updates of the server's figures while a page is open. */
const period = 10

type DashboardDeps = UrlDeps &
  LiveDeps &
  ShownDeps & {
    docker: Pick<Docker, 'info'>
    server: Pick<ServerMeter, 'read'>
    config: Config
    releases: Pick<ReleaseWatch, 'newer'>
    masks: Masks
  } & Parameters<typeof readFleet>[0]

/** Problems first, then apps and services, then recent deployments. */
export const dashboardRoutes = (deps: DashboardDeps) => {
  const { db } = deps
  const stateOfEngine = engineState(deps.docker)
  return factory.createApp().get('/dashboard', async (c) => {
    const listing = listingOf(c, activitySorts)
    const [engine, server] = await Promise.all([stateOfEngine(), deps.server.read()])
    const { id: ownerId, role } = userOf(c)
    const newer = role === 'admin' ? deps.releases.newer : null
    const recent = await Promise.all(
      listRecent(db, { ownerId, limit: maxListed.deployments }).map(async (row) => ({
        ...row,
        deployment: await withMaskedWatch(deps, row.deployment),
      })),
    )
    return show(c, {
      title: 'Dashboard',
      live: { every: period },
      page: () => {
        const items = readInventory(deps, ownerId)
        const found = listed(sortedBy(items, listing.sort, activityOf), listing, textOf)
        const list = { ...found, items: rowsOf(deps, ownerId, found.items) }
        const of = {
          ownerId,
          isAdmin: role === 'admin',
          items: sortedBy(items, 'activity', activityOf),
          server,
        }
        const attention = readAttention(deps, of)
        const limit = c.req.query('attention') === 'all' ? maxWhole : maxShown
        const fleet = readFleet(deps)
        return (
          <>
            <PageHead title="Dashboard">{list.all > 0 && <NewProjectLink />}</PageHead>
            <Live id="dashboard-trouble">
              {!engine.ok && (
                <Trouble
                  title="Docker doesn’t respond"
                  hint="Pages keep working, but nothing can be deployed."
                  role="alert"
                >
                  <p>{engine.detail}</p>
                </Trouble>
              )}
              <AttentionList items={attention.slice(0, limit)} all={attention.length} />
            </Live>
            {list.all === 0 && <FirstSteps />}
            <Live as="section" id="dashboard-server" aria-label="Server">
              <ServerStrip server={server} engine={engine} newer={newer} />
              {fleet && <FleetStrip fleet={fleet} isAdmin={role === 'admin'} />}
            </Live>
            {list.all > 0 && (
              <div class="section-head">
                <h2 id="running-heading">Apps and services</h2>
                <ListingForm
                  {...{ path: '/dashboard', listing, what: 'apps and services' }}
                  sorts={activitySorts}
                />
              </div>
            )}
            <Live id="dashboard-list">
              <Running list={list} listing={listing} />
            </Live>
            <Live id="dashboard-recent">
              {recent.length > 0 && (
                <section aria-labelledby="recent-heading">
                  <h2 id="recent-heading">Recent deployments</h2>
                  <DeploymentList items={recent} rests={listRests(db, recent)} />
                </section>
              )}
            </Live>
          </>
        )
      },
      json: () => ({
        projects: listProjects(db, { ownerId, limit: maxListed.projects })
          .slice(0, maxListed.projects)
          .map(projectJson),
        deployments: recent.map(({ deployment }) => deploymentJson(deployment)),
        engine,
      }),
    })
  })
}
