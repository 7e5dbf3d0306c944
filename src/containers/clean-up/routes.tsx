import type { Context } from 'hono'
import { auditor } from '../../audit/record.ts'
import type { Config } from '../../config.ts'
import type { LogDb } from '../../db/index.ts'
import type { Jobs } from '../../jobs/jobs.ts'
import type { ChangeFeed } from '../../live/change-feed.ts'
import type { DiskSpace } from '../../platform/disk-space.ts'
import { AppError, invalidField } from '../../platform/errors.ts'
import { firstServer } from '../../platform/root.ts'
import { serverNames } from '../../runtime/on-engine.ts'
import { clientOf } from '../../web/client.ts'
import { factory } from '../../web/factory.ts'
import { emptyDraft } from '../../web/draft.ts'
import type { Draft } from '../../web/draft.ts'
import { input } from '../../web/input.ts'
import { requireAdmin, userOf } from '../../web/user-of.ts'
import { Sampled } from '../../web/sampled.ts'
import { show, showSaved } from '../../web/respond.tsx'
import type { View } from '../../web/respond.tsx'
import { SettingsFrame } from '../../web/settings-frame.tsx'
import { whileAlive } from '../../docker/while-alive.ts'
import { endsWithin, within } from '../../platform/pause.ts'
import { buildLimits, diskShares, diskSpace, engineShares, ownerShares } from './disk.ts'
import type { OtherDisk } from './disk.ts'
import type { CleanUps, CleanUp } from './clean-ups.ts'
import type { PruneDeps } from './store.ts'
import { pruneForm, scheduleForm } from './forms.ts'
import { diskJson, previewJson, runJson } from './json.ts'
import type { PruneKind, Thing } from './kinds.ts'
import { bytesOf, countByKind } from './kinds.ts'
import { PruneOverviewSections, prunePath, CleanUpForm } from './page.tsx'
import { PrunePreview } from './preview.tsx'
import { previewPrune } from './prune.ts'
import type { Scheduler } from '../../platform/scheduler.ts'
import { getSchedule, saveSchedule } from './schedule-store.ts'
import { EmptyState } from '../../web/components.tsx'
import { Live } from '../../web/live.tsx'
import { Ago } from '../../web/times.tsx'
import { bytes } from '../../web/units.ts'
import { Things } from './things.tsx'
import { ButtonLink } from '../../web/form.tsx'

const resultPath = `${prunePath}/result`

type RouteDeps = PruneDeps & {
  config: Config
  logDb: LogDb
  cleanUps: CleanUps
  jobs: Jobs
  changes: ChangeFeed
  scheduler: Scheduler
  serverEngines: { disks: ReadonlyMap<string, DiskSpace> }
}

/** Only for admins. */
export const pruneRoutes = (deps: RouteDeps) => {
  const { db, cleanUps, jobs, scheduler } = deps
  const audit = auditor(db)
  const diskUse = new Sampled(measure, { lasts: 60_000 })
  const otherUse = new Sampled(measureOthers, { lasts: 600_000 })

  return factory
    .createApp()
    .get(prunePath, requireAdmin, async (c) => show(c, await overview(c, emptyDraft)))
    .post(prunePath, requireAdmin, input(pruneForm, overview), async (c) => {
      const { what, items, dryRun, server } = c.var.input
      const servers = server ? [server] : null
      if (server && !deps.engines.all.some(({ serverId }) => serverId === server))
        throw invalidField('server', 'isn’t a server.')
      if (dryRun) return show(c, await preview(c, what, server ?? null))
      const { id } = cleanUps.start({
        actor: userOf(c),
        address: c.var.address,
        what,
        // nothing selected in a form means nothing, not the defaults
        items: items === null ? [] : items,
        servers,
      })
      const done = await endsWithin(deps.config.acceptTimeout, jobs.ended(id))
      diskUse.latest = null
      otherUse.latest = null
      const run = cleanUps.latest!
      if (run.error && run.outcome.removed.length === 0) throw run.error
      if (clientOf(c) === 'browser') return c.redirect(resultPath, 303)
      if (!done) c.header('Location', resultPath)
      return show(c, result(c), done ? 200 : 202)
    })
    .get(resultPath, requireAdmin, (c) => show(c, result(c)))
    .put('/settings/prune/schedule', requireAdmin, input(scheduleForm, scheduleDraft), (c) => {
      const changes = Object.entries(c.var.input).filter(([, value]) => value !== undefined)
      const schedule = db.transaction(() => {
        const saved = saveSchedule(db, Object.fromEntries(changes))
        audit(c, 'clean_up.scheduled', { details: describe(saved) })
        return saved
      })
      scheduler.wake()
      return showSaved(c, {
        title: 'Clean-up',
        to: prunePath,
        said: 'Schedule saved.',
        page: () => <CleanUpForm schedule={schedule} />,
        json: () => schedule,
      })
    })

  async function overview(c: Context, draft: Draft): Promise<View> {
    const { signal } = c.req.raw
    const isProgram = clientOf(c) === 'program'
    const found = await diskUse.look(isProgram ? deps.config.acceptTimeout : undefined)
    const space = await diskSpace(deps)
    const use = found ?? diskUse.latest?.value
    if (isProgram && !use) throw stillMeasuring()
    const shares = use ? diskShares(deps, use) : null
    const others = await readOthers()
    const owners = use ? ownerShares(deps, use) : []
    const disk = { space, isFull: db.$client.reserve.isGone }
    const builds = await buildLimits(deps, { space, signal })
    const schedule = getSchedule(db)
    const view = framed(c, {
      fragment: () => (
        <PruneOverviewSections
          {...disk}
          {...{ shares, others, owners, at: diskUse.latest?.at ?? null, builds, schedule, draft }}
          latest={cleanUps.latest}
        />
      ),
      json: () => ({
        ...diskJson({ ...disk, others, shares: shares! }),
        measuredAt: diskUse.latest!.at,
        owners,
        builds,
        schedule,
        latest: cleanUps.latest && runJson(cleanUps.latest),
      }),
    })
    return { ...view, live: {} }
  }

  /** The engine scans its whole disk, so pages show the last result and update when there is a new one. */
  async function measure() {
    const use = await whileAlive(deps.docker, deps.docker.diskUse())
    deps.changes.touch()
    return use
  }

  async function measureOthers() {
    const [own, ...others] = deps.engines.all
    const { found } = await deps.engines.reachable(async (docker) =>
      docker === own ? [] : [[docker.serverId, engineShares(await docker.diskUse())] as const],
    )
    if (others.length > 0) deps.changes.touch()
    return new Map(found)
  }

  /** Nothing is measured while there are none. */
  async function readOthers(): Promise<OtherDisk[]> {
    const names = serverNames(deps)
    names.delete(firstServer)
    if (names.size === 0) return []
    const uses = (await otherUse.look()) ?? otherUse.latest?.value
    return [...names].map(([id, name]) => ({
      ...{ id, name, use: uses?.get(id) ?? null },
      space: deps.serverEngines.disks.get(id) ?? null,
    }))
  }

  async function preview(c: Context, what: PruneKind[], server: string | null): Promise<View> {
    const of = { what, servers: server ? [server] : null, signal: c.req.raw.signal }
    // after a timeout the next try is faster, since most of the engine's scan is cached
    const plan = await within(deps.config.acceptTimeout, previewPrune(deps, of))
    if (plan === null) throw stillMeasuring()
    return framed(c, {
      fragment: () => <PrunePreview plan={plan} what={what} server={server} />,
      json: () => previewJson(plan),
    })
  }

  function result(c: Context): View {
    const run = cleanUps.latest
    return {
      ...framed(c, {
        fragment: () => <PruneResult run={run} />,
        json: () => run && runJson(run),
      }),
      live: run?.finishedAt === null ? { every: 2 } : {},
    }
  }

  function scheduleDraft(_: Context, draft: Draft): View {
    const schedule = getSchedule(db)
    return { title: 'Clean-up', page: () => <CleanUpForm {...{ schedule, draft }} /> }
  }
}

/** Adds the tabs of the settings. */
const framed = (
  c: Context,
  { fragment, json }: { fragment: View['page']; json: () => unknown },
): View => ({
  title: 'Clean-up',
  page: () => (
    <SettingsFrame
      user={userOf(c)}
      path={prunePath}
      title={c.req.path === resultPath ? 'Last clean-up' : undefined}
    >
      {fragment()}
    </SettingsFrame>
  ),
  partial: fragment,
  json,
})

const stillMeasuring = () =>
  new AppError('timeout', 'Docker is still measuring its disk usage. Try again in a moment.')

function describe({ enabled, what, hour, threshold }: ReturnType<typeof getSchedule>) {
  if (!enabled) return { every_day: 'off' }
  return { every_day: `at ${hour}:00`, of: what.join(', '), from: `${threshold} %` }
}

const PruneResult = ({ run }: { run: CleanUp | null }) => {
  const isBusy = run !== null && run.finishedAt === null
  return (
    <Live id="clean-up" aria-busy={isBusy ? 'true' : undefined}>
      {run ? (
        <Result run={run} title={isBusy ? 'Cleaning up…' : titleOf(run)} />
      ) : (
        <EmptyState title="No clean-up yet">
          <p>
            Nothing has been cleaned up since Davit started. Earlier clean-ups are in the audit log.
          </p>
        </EmptyState>
      )}
      {!isBusy && (
        <p class="more">
          <ButtonLink variant="outline" href={prunePath}>
            Back to clean-up
          </ButtonLink>
        </p>
      )}
    </Live>
  )
}

const titleOf = ({ error }: CleanUp) => (error ? 'The clean-up failed' : 'Cleaned up')

const Result = ({ run, title }: { run: CleanUp; title: string }) => {
  const { removed, skipped, away } = run.outcome
  return (
    <div class="form">
      <div>
        <h2 role="status">{title}</h2>
        <p class="row-facts">
          <span>
            by <bdi>{run.by}</bdi>
          </span>
          <Ago at={run.startedAt} />
        </p>
      </div>
      <p>{summary(removed)}</p>
      {away.length > 0 && <p>Not reached: {away.join(', ')}.</p>}
      {removed.length > 0 && (
        <div>
          <Things things={removed} />
        </div>
      )}
      {skipped.length > 0 && (
        <section>
          <h3>Kept</h3>
          <Things things={skipped} />
        </section>
      )}
    </div>
  )
}

function summary(removed: Thing[]) {
  const given = bytesOf(removed)
  return `Removed ${countByKind(removed)}${given > 0 ? `, which freed ${bytes(given)} or more` : ''}.`
}
