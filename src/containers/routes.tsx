import { seesTexts } from '../accounts/token-scope.ts'
import type { Context } from 'hono'
import { auditor } from '../audit/record.ts'
import type { Config } from '../config.ts'
import { clientOf } from '../web/client.ts'
import { factory } from '../web/factory.ts'
import { query } from '../web/query.ts'
import { show } from '../web/respond.tsx'
import { lookOfContainer, Badge, ContainerBadge, stateInWords } from '../web/status-badge.tsx'
import { userOf } from '../web/user-of.ts'
import { ContainerDetails } from './container-details.tsx'
import { ContainerRow, rowId, restarts } from './container-row.tsx'
import { containerView } from './container-view.ts'
import type { ViewDeps, ContainerView } from './container-view.ts'
import { findContainer, noContainer } from './find.ts'
import type { FoundContainer } from './find.ts'
import { containerDetailsJson } from './json.ts'
import { containerListRoutes } from './list-routes.tsx'
import type { ListDeps } from './list-routes.tsx'
import { shownLogQuery } from './log-forms.ts'
import { ContainerLogPanel, logOf } from './log-panel.tsx'
import type { LogDeps } from './log-source.ts'
import { containerPath } from './place.ts'
import { statsOf, StatsPanel } from './usage/panel.tsx'
import { mayBeHalfRestored } from '../jobs/after-store.ts'
import { AppError } from '../platform/errors.ts'
import { endsWithin, neverAborted } from '../platform/pause.ts'
import { restartContainer, stopContainer } from '../runtime/act.ts'
import { isRollingOut } from '../runtime/store.ts'
import type { RuntimeDeps } from '../runtime/deps.ts'
import { isUp } from '../runtime/workload.ts'
import { isKept, keptLook, stopReasonOf } from './row.ts'
import { PageHead, Trouble } from '../web/components.tsx'
import { ButtonLink } from '../web/form.tsx'
import { Ago } from '../web/times.tsx'
import { ContainerActions } from './actions.tsx'
import { Live } from '../web/live.tsx'
import { terminalPath } from './terminal/page.tsx'

type RouteDeps = ListDeps & ViewDeps & LogDeps & ActDeps & { config: Config }

export const containerRoutes = (deps: RouteDeps) => {
  const audit = auditor(deps.db)

  return factory
    .createApp()
    .route('/', containerListRoutes(deps)) // before routes that would match its names as ids
    .get('/containers/:id', query(shownLogQuery), async (c) => {
      const found = await find(c)
      const view = await containerView(deps, found, userOf(c), { seesTexts: seesTexts(c) })
      const client = clientOf(c)
      const asked = { chosen: c.req.valid('query'), signal: c.req.raw.signal }
      // a refresh of the status only needs to know whether a log exists
      const log =
        client === 'program'
          ? null
          : await logOf(deps, found, client === 'browser' ? asked : { ...asked, limit: 1 })
      const isCarried = log?.problem === null
      return show(c, {
        title: view.container.name,
        state: lookOfContainer({ ...view.container, looping: view.looping }),
        page: () => (
          <>
            <ContainerStatus view={view} />
            {client === 'browser' && log && (
              <>
                <StatsPanel stats={statsOf(deps, found.container)} isCarried={isCarried} />
                <ContainerLogPanel log={log} />
                <ContainerDetails view={view} />
              </>
            )}
          </>
        ),
        partial: () => <ContainerStatus view={view} />,
        json: () => containerDetailsJson(view),
        live: { isCarried },
      })
    })
    .post('/containers/:id/stop', (c) => act(c, 'container.stopped', stop))
    .post('/containers/:id/restart', (c) => act(c, 'container.restarted', restart))

  async function act(
    c: Context,
    action: 'container.stopped' | 'container.restarted',
    perform: (deps: RouteDeps, found: FoundContainer) => Promise<void>,
  ) {
    const found = await find(c)
    const { id, name } = found.container
    const done = await endsWithin(deps.config.acceptTimeout, perform(deps, found))
    audit(c, action, { object: { kind: 'container', id, name } })
    if (clientOf(c) === 'browser') return c.redirect(containerPath({ id }), 303)
    if (!done) c.header('Location', containerPath({ id }))
    const view = await containerView(deps, await find(c), userOf(c), { seesTexts: true })
    const isInList = c.req.header('HX-Target')?.endsWith(`#${rowId({ id })}`)
    const page = () => (isInList ? <ContainerRow row={view} /> : <ContainerStatus view={view} />)
    return show(c, { title: name, page, json: () => containerDetailsJson(view) }, done ? 200 : 202)
  }

  function find(c: Context) {
    const id = c.req.param('id')!
    return findContainer(deps, { id, user: userOf(c), signal: c.req.raw.signal })
  }
}

type ActDeps = Pick<RuntimeDeps, 'db' | 'engines' | 'locks'>

/** Uses the container's own stop timeout. */
async function stop(deps: ActDeps, found: FoundContainer) {
  const { container, place } = found
  if (!isUp(container))
    throw new AppError('conflict', `${container.name} isn’t running: it is ${container.state}.`)
  refuseWhileSwitching(deps, found)
  refuseKept(found)
  const docker = deps.engines.of(container)
  const isOwn = place.kind === 'own'
  const stopIt = () => stopContainer(docker, container, { isOwn })
  if (!(await besideHolds(deps, found, stopIt))) throw noContainer()
}

async function restart(deps: ActDeps, found: FoundContainer) {
  const { container } = found
  if (container.state === 'removing' || container.state === 'dead')
    throw new AppError('conflict', `${container.name} is being removed, so it can’t be started.`)
  refuseWhileSwitching(deps, found)
  refuseKept(found)
  const docker = deps.engines.of(container)
  if (!(await besideHolds(deps, found, () => restartContainer(docker, container))))
    throw noContainer()
}

/** What is held for its volumes must neither run nor be started later by what holds it. */
function besideHolds(
  { db, locks }: ActDeps,
  { place }: FoundContainer,
  work: () => Promise<boolean>,
): Promise<boolean> {
  const of = place.kind === 'own' ? (place.environment ?? place.service) : null
  if (!of) return work()
  if (locks.isHeld(of) || mayBeHalfRestored(db, of.id))
    throw new AppError(
      'conflict',
      `The data of ${of.name} is being backed up or restored. Wait until that has ended, or cancel it.`,
    )
  return locks.beside(of, neverAborted(), work)
}

function refuseKept({ place }: FoundContainer) {
  if (!isKept(place)) return
  throw new AppError(
    'conflict',
    'It belongs to the previous version, which is kept for a rollback. Roll back to that deployment to start it.',
  )
}

/** A deployment owns the containers it starts and stops; changing them meanwhile would conflict. */
function refuseWhileSwitching({ db }: ActDeps, { place }: FoundContainer) {
  if (place.kind !== 'own' || !place.environment || !isRollingOut(db, place.environment.id)) return
  throw new AppError(
    'conflict',
    `A deployment is switching the containers of ${place.environment.name}. Wait until it has ended, or cancel it.`,
  )
}

/** Refreshes itself every few seconds. */
const ContainerStatus = ({ view }: { view: ContainerView }) => {
  const { container, place, looping } = view
  const reason = stopReasonOf(view)
  const shown = { ...container, looping }
  return (
    <Live
      as="section"
      id="container-status"
      aria-label="Status"
      data-announce={`The container is ${stateInWords(shown)}.`}
    >
      <PageHead title={container.name} crumbs={[{ href: '/containers', name: 'Containers' }]} />
      {reason && (
        <Trouble title="Davit stopped it" hint={reason.hint}>
          <p dir="auto">{reason.message}</p>
        </Trouble>
      )}
      {container.error && !isUp(container) && (
        <Trouble title="Docker couldn’t start it">
          <p dir="auto">{container.error}</p>
        </Trouble>
      )}
      <div class="status-line">
        <p hidden data-gone>
          This container was removed.
        </p>
        {isKept(place) && !isUp(container) ? (
          <Badge {...keptLook} />
        ) : (
          <ContainerBadge {...shown} />
        )}
        <Facts view={view} />
        <div class="actions">
          {view.hasTerminal && (
            <ButtonLink small variant="outline" href={terminalPath(container)}>
              Terminal
            </ButtonLink>
          )}
          <ContainerActions container={container} place={place} target="#container-status" />
        </div>
      </div>
      <WayBack view={view} />
    </Live>
  )
}

const Facts = ({ view: { container } }: { view: ContainerView }) => (
  <p class="row-facts">
    {container.exitCode !== null && <span>exit code {container.exitCode}</span>}
    {container.restartCount > 0 && <span class="telling">{restarts(container.restartCount)}</span>}
    {container.oomKilled && <span class="telling">ran out of memory</span>}
    {container.startedAt && (
      <span>
        started <Ago at={container.startedAt} />
      </span>
    )}
    {!isUp(container) && container.finishedAt && (
      <span>
        ended <Ago at={container.finishedAt} />
      </span>
    )}
  </p>
)

const WayBack = ({ view: { container, place, isOwner } }: { view: ContainerView }) => {
  if (isUp(container) || place.kind === 'other' || !place.project || !isOwner) return null
  return (
    <p class="muted">
      {isKept(place)
        ? 'It belongs to the previous version, and is kept stopped until the next deployment: a rollback starts it.'
        : 'Start restarts this container unchanged.'}{' '}
      To run the newest commit instead,{' '}
      <a href={`/projects/${place.project.id}`}>deploy the project</a>.
    </p>
  )
}
